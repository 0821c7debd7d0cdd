"""The certificate by which the page is also served encrypted: made at the first start, renewed before it ends.

No authority signed it, so each browser warns once; its fingerprint tells whether it is the referee's.
"""

import stat
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from common.durable import write_durably
from common.whole_files import read_text

_VALID = timedelta(days=397)
"""Longer than that, and browsers refuse it."""
_RENEWED = timedelta(days=30)
"""How long before its end it is renewed."""
_SKEW = timedelta(days=1)
"""How far a phone's clock may be behind."""
_MOST_ADDRESSES = 16
_OTHERS_MAY = 0o077
_LOOPBACK = ("127.0.0.1", "::1")


@dataclass(frozen=True)
class Certificate:
    """A certificate's file, that of its key if it is another one, and its SHA-256 fingerprint as pairs of digits."""

    file: Path
    key: Path | None
    fingerprint: str


def load_certificate(file: Path, key: Path | None) -> Certificate:
    """Load a certificate from PEM files; raises OSError and ValueError."""
    return Certificate(file, key, _fingerprint(x509.load_pem_x509_certificate(read_text(file).encode())))


def load_or_make_certificate(file: Path, names: Collection[str], host: str, now: datetime) -> Certificate:
    """Return the certificate kept in ``file``, for a machine with these names that is reached as ``host``.

    It is made anew, with the same key, if it ends within 30 days of ``now``, or is not for these names and ``host``: an
    address that it was for before stays in it. A key that other users could read is replaced. Raises OSError if it
    can't be saved.
    """
    # A certificate's names are ASCII.
    names = {*filter(str.isascii, names)}
    key, kept = _kept(file)
    known_names, addresses = set[str](), list[str]()
    if kept is not None:
        with suppress(x509.ExtensionNotFound):
            others = kept.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
            known_names = set(others.get_values_for_type(x509.DNSName))
            addresses = [str(each) for each in others.get_values_for_type(x509.IPAddress)]
        is_known = {*names, host} <= {*known_names, *addresses}
        if is_known and now < kept.not_valid_after_utc - _RENEWED:
            return Certificate(file, None, _fingerprint(kept))
    wanted = {*names}
    try:
        newest = [str(ip_address(host))]
    except ValueError:
        newest = []
        wanted.add(host)
    listed = list(dict.fromkeys((*newest, *_LOOPBACK, *addresses)))[:_MOST_ADDRESSES]
    made = _made(key, sorted(wanted), listed, now)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    write_durably(file, private + made.public_bytes(serialization.Encoding.PEM), private=True)
    return Certificate(file, None, _fingerprint(made))


def _kept(file: Path) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate | None]:
    """Return the key and the certificate of a file; a new key, and no certificate, if there are none."""
    with suppress(OSError, ValueError, TypeError):
        if stat.S_IMODE(file.stat().st_mode) & _OTHERS_MAY == 0:
            content = read_text(file).encode()
            key = serialization.load_pem_private_key(content, None)
            certificate = x509.load_pem_x509_certificate(content)
            if isinstance(key, ec.EllipticCurvePrivateKey) and key.public_key() == certificate.public_key():
                return key, certificate
    return ec.generate_private_key(ec.SECP256R1()), None


def _made(
    key: ec.EllipticCurvePrivateKey, names: Collection[str], addresses: Collection[str], now: datetime
) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Tabletop Referee")])
    reached_by = [*map(x509.DNSName, names), *(x509.IPAddress(ip_address(each)) for each in addresses)]
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now - _SKEW + _VALID)
        .add_extension(x509.SubjectAlternativeName(reached_by), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )


def _fingerprint(certificate: x509.Certificate) -> str:
    return str(certificate.fingerprint(hashes.SHA256()).hex(":"))
