// SPDX-License-Identifier: GPL-3.0-or-later
#include "data-loop.hpp"

#include <pipewire/loop.h>

#include <cstdio>
#include <dlfcn.h>

namespace scs::module {
namespace {

constexpr const char* name_key = "node.loop.name";
constexpr const char* class_key = "node.loop.class";

/// What PipeWire has since 1.1.81. It is looked up when it is needed, as what was built with an older one may meet a
/// newer one, and the other way round.
struct DataLoops {
    pw_loop* (*acquire)(pw_context*, const spa_dict*);
    void (*release)(pw_context*, pw_loop*);
};

template <class Function>
void look_up(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

/// The name of a loop that was acquired, which stands after what older headers show of it.
template <class Loop>
const char* name_of(const Loop& loop) {
    if constexpr (requires { loop.name; })
        return loop.name;
    else
        return *reinterpret_cast<const char* const*>(&loop + 1);
}

} // namespace

Result<std::string> data_loop_for(pw_context* context, const spa_dict& properties) {
    DataLoops loops;
    look_up(loops.acquire, "pw_context_acquire_loop");
    look_up(loops.release, "pw_context_release_loop");
    if (!loops.acquire || !loops.release)
        return std::string();
    const auto acquire = [&](const char* name) {
        spa_dict_item items[2];
        uint32_t count = 0;
        if (name)
            items[count++] = {name_key, name};
        if (const char* of_class = spa_dict_lookup(&properties, class_key))
            items[count++] = {class_key, of_class};
        const spa_dict asked = SPA_DICT_INIT(items, count);
        return loops.acquire(context, &asked);
    };
    const char* wanted = spa_dict_lookup(&properties, "scsynth.loop");
    pw_loop* loop = acquire(wanted ? wanted : spa_dict_lookup(&properties, name_key));
    if (!loop)
        return Error{"PipeWire has no data loop"};
    const char* name = name_of(*loop);
    pw_loop* again = name && *name ? acquire(name) : nullptr;
    for (pw_loop* acquired : {loop, again})
        if (acquired)
            loops.release(context, acquired);
    if (again && again != loop)
        return Error{"the name of PipeWire's data loop " + std::string(name) +
                     " doesn't tell it from others: context.data-loops has to give each a loop.name of its own"};
    return std::string(name ? name : "");
}

bool has_named_loops(const char* version) {
    int major = 0, minor = 0;
    return version && std::sscanf(version, "%d.%d", &major, &minor) == 2 && (major > 1 || (major == 1 && minor >= 2));
}

} // namespace scs::module
