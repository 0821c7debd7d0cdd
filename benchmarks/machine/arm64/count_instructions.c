/* A plugin for qemu-user: counts the emulated program's instructions, and says how many there were so far whenever the
 * program asks for its parent's process number, which a benchmark does to mark where a stretch begins and ends.
 *
 * Build: cc -shared -fPIC -O2 -o count_instructions.so count_instructions.c
 * Debian ships no header for plugins; what is used of the interface is declared here:
 * https://www.qemu.org/docs/master/devel/tcg-plugins.html
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define GETPPID_ON_ARM64 173

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
enum { NO_REGISTERS = 0 };

typedef void (*translated)(plugin_id id, struct qemu_plugin_tb *block);
typedef void (*executed)(unsigned int cpu, void *data);
typedef void (*called)(plugin_id id, unsigned int cpu, int64_t number, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                       uint64_t, uint64_t, uint64_t);

extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, translated callback);
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, executed callback, int flags, void *data);
extern void qemu_plugin_register_vcpu_syscall_cb(plugin_id id, called callback);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);

int qemu_plugin_version = 1;

/* The benchmark computes in one thread; what others do beside it would count too. */
static uint64_t instructions;

static void count(unsigned int cpu, void *data)
{
    (void)cpu;
    instructions += (uintptr_t)data;
}

static void watch(plugin_id id, struct qemu_plugin_tb *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(block, count, NO_REGISTERS, (void *)(uintptr_t)qemu_plugin_tb_n_insns(block));
}

static void answer(plugin_id id, unsigned int cpu, int64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                   uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
    (void)id, (void)cpu, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
    if (number == GETPPID_ON_ARM64)
        fprintf(stderr, "instructions %" PRIu64 "\n", instructions);
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    (void)info, (void)argc, (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, watch);
    qemu_plugin_register_vcpu_syscall_cb(id, answer);
    return 0;
}
