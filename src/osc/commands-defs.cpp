// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/nonblocking.hpp"
#include "engine/engine.hpp"
#include "osc/command-table.hpp"
#include "osc/definition-files.hpp"
#include "osc/reply-port.hpp"
#include "osc/server.hpp"

#include <string>

namespace scs::osc {

namespace {

/// Loads SynthDefs on the worker and installs the valid ones. Each broken one is answered by a /fail; the /done and the
/// completion message come nevertheless, since clients wait for them.
class DefinitionJob : public OscJob {
public:
    using OscJob::OscJob;

protected:
    void take(LoadedDefinitions loaded) {
        loaded_ = std::move(loaded);
        services().sources.note(loaded_.definitions);
        for (std::string& error : loaded_.errors)
            add_warning(std::move(error));
    }
    void install(Engine& engine) noexcept override { all_fit_ = osc::install(engine, loaded_.definitions); }
    void answer_done(ReplyPort& port) override {
        if (!all_fit_)
            port.fail(from(), name(), "too many SynthDefs");
        OscJob::answer_done(port);
    }
    const Settings& engine_settings() const { return services().engine->settings(); }

    LoadedDefinitions loaded_;

private:
    bool all_fit_ = true;
};

class ReceiveDefinitions final : public DefinitionJob {
public:
    explicit ReceiveDefinitions(CommandInit&& init) : DefinitionJob(std::move(init)) {
        ArgReader rest = args();
        file_ = rest.get_blob();
        take_completion(rest);
    }

private:
    void do_work() override {
        LoadedDefinitions loaded;
        loaded.definitions = load_definitions(file_, engine_settings(), loaded.errors);
        take(std::move(loaded));
    }

    std::span<const std::byte> file_;
};

/// /d_load and /d_loadDir. If nothing was loaded, the text of the /fail is the path, as in scsynth.
template <LoadedDefinitions (*load)(std::string_view, const std::string&, const Settings&)>
class LoadDefinitions final : public DefinitionJob {
public:
    explicit LoadDefinitions(CommandInit&& init) : DefinitionJob(std::move(init)) {
        ArgReader rest = args();
        path_ = rest.get_string();
        take_completion(rest);
    }

private:
    void do_work() override {
        take(load(path_, services().settings.restricted_path, engine_settings()));
        if (loaded_.denied)
            set_failure("access denied");
        else if (loaded_.definitions.empty())
            set_failure(path_);
    }

    std::string path_;
};

constexpr int64_t name_cost = 200; // ns, an estimate for the deadline

Status d_free(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    ArgReader& args = command.place().args;
    while (args.remain() > 0) {
        if (engine.out_of_time(name_cost))
            return command.unfinished();
        if (!args.at_string())
            return {Code::synthdef_not_found};
        Definition* unused = nullptr;
        engine.definitions().remove(args.get_string(), unused);
        if (unused)
            engine.outbox().hand_back(unused, Handback::Kind::release);
    }
    return {};
}

Status d_free_all(OscCommand& command, Engine& engine) noexcept SCS_NONBLOCKING {
    return engine.free_definitions() ? Status{} : command.unfinished();
}

constexpr CommandSpec commands[] = {
    {.number = 5, .name = "/d_recv", .types = "b", .make = make_command<ReceiveDefinitions>},
    {.number = 6, .name = "/d_load", .types = "s", .make = make_command<LoadDefinitions<load_matching>>},
    {.number = 7, .name = "/d_loadDir", .types = "s", .make = make_command<LoadDefinitions<load_folder>>},
    {.number = 8, .name = "/d_freeAll", .handler = d_free_all},
    {.number = 53, .name = "/d_free", .handler = d_free},
};

} // namespace

std::span<const CommandSpec> definition_commands() {
    return commands;
}

} // namespace scs::osc
