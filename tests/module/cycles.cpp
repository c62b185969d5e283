// SPDX-License-Identifier: GPL-3.0-or-later
// Loads and unloads the module in a context of its own and prints by how many KiB the process has grown: its smallest
// size in the second half of the cycles less that in the first. The largest would be no measure: a thread that still
// loads plugins when its server is unloaded holds 20 MiB for a moment.
//
// usage: cycles daemon|client COUNT ARGS
//
// As "daemon" the node is made in this process; as "client" in the daemon, where it stays.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <malloc.h>
#include <unistd.h>

#include <pipewire/impl.h>
#include <pipewire/pipewire.h>

namespace {

long resident_kib() {
    long total = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> total >> resident;
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

int find_running(void* data, pw_global* global) {
    if (!pw_global_is_type(global, PW_TYPE_INTERFACE_Node))
        return 0;
    auto* node = static_cast<pw_impl_node*>(pw_global_get_object(global));
    const char* state = spa_dict_lookup(pw_impl_node_get_info(node)->props, "scsynth.state");
    *static_cast<bool*>(data) = state && std::strcmp(state, "running") == 0;
    return 0;
}

/// Waits until this process's node has loaded what all following ones share.
void wait_until_running(pw_context* context, pw_loop* loop) {
    bool running = false;
    while (pw_context_for_each_global(context, find_running, &running), !running)
        pw_loop_iterate(loop, -1);
}

/// Runs what is pending, in particular destruction that was deferred.
void run_pending(pw_loop* loop) {
    while (pw_loop_iterate(loop, 0) > 0) {
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: %s daemon|client COUNT ARGS\n", argv[0]);
        return 2;
    }
    pw_init(&argc, &argv);
    const bool daemon = std::strcmp(argv[1], "daemon") == 0;
    const int count = std::atoi(argv[2]);
    pw_main_loop* main_loop = pw_main_loop_new(nullptr);
    pw_loop* loop = pw_main_loop_get_loop(main_loop);
    pw_context* context = pw_context_new(
        loop, pw_properties_new(PW_KEY_CONFIG_NAME, "null", PW_KEY_CORE_DAEMON, daemon ? "true" : "false", nullptr), 0);
    pw_loop_enter(loop);
    long least[] = {std::numeric_limits<long>::max(), std::numeric_limits<long>::max()};
    for (int i = 0; i < count; ++i) {
        pw_impl_module* module = pw_context_load_module(context, "libpipewire-module-scsynth", argv[3], nullptr);
        if (!module)
            return 1;
        if (daemon && i == 0)
            wait_until_running(context, loop);
        run_pending(loop);
        pw_impl_module_destroy(module);
        run_pending(loop);
        long& half = least[i >= count / 2];
        malloc_trim(0);
        half = std::min(half, resident_kib());
    }
    std::printf("%ld\n", least[1] - least[0]);
    pw_loop_leave(loop);
    pw_context_destroy(context);
    pw_main_loop_destroy(main_loop);
    pw_deinit();
}
