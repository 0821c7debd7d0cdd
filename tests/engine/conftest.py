from hypothesis import settings

# A busy machine may take its time over an example; that is no fault of the rules.
settings.register_profile("engine", deadline=None)
settings.load_profile("engine")
