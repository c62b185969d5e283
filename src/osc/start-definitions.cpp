// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/start-definitions.hpp"

#include "engine/control/bindings.hpp"
#include "engine/engine.hpp"
#include "osc/binding-options.hpp"
#include "osc/definition-files.hpp"
#include "osc/packet-binding.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <vector>

namespace scs::osc {

namespace {

class BindAtStart final : public Command {
public:
    explicit BindAtStart(std::unique_ptr<Binding> binding) : binding_(std::move(binding)) {}
    Outcome run(Engine& engine) noexcept override {
        engine.bindings().put(binding_);
        return Outcome::done;
    }

private:
    std::unique_ptr<Binding> binding_;
};

/// Reads what is started with, as load_start_definitions() says.
class Start {
public:
    Start(const ServerSettings& settings, const Settings& engine, const std::function<void(const std::string&)>& report)
        : settings_(settings), engine_(engine), report_(report) {}

    void load(const std::string& folder) { take(load_folder(folder, "", engine_)); }

    /// Finds a binding's SynthDef, also for a variant of it.
    void find(const std::string& name) {
        const std::string_view base = std::string_view(name).substr(0, name.find('.'));
        if (has(name))
            return;
        const auto file = std::filesystem::path(settings_.instruments) / (std::string(base) + ".scsyndef");
        if (std::error_code none; base.find('/') == base.npos && std::filesystem::exists(file, none))
            take(load_matching(file.string(), "", engine_));
        else
            report_("scsynth.bindings: there is no SynthDef " + name + " in scsynth.synthdef-path (" +
                    settings_.synthdef_path + ") nor in " + settings_.instruments + ", until a client sends it" +
                    (name.find(',') == name.npos ? "" : "; between SynthDefs are semicolons"));
    }

    std::vector<std::unique_ptr<Definition>>& definitions() { return definitions_; }

private:
    bool has(std::string_view name) const {
        return std::any_of(definitions_.begin(), definitions_.end(), [&](const auto& each) {
            return each->program->name == name || each->program->find_variant(name);
        });
    }

    void take(LoadedDefinitions loaded) {
        std::move(loaded.definitions.begin(), loaded.definitions.end(), std::back_inserter(definitions_));
        for (const std::string& error : loaded.errors)
            report_(error);
    }

    const ServerSettings& settings_;
    const Settings& engine_;
    const std::function<void(const std::string&)>& report_;
    std::vector<std::unique_ptr<Definition>> definitions_;
};

} // namespace

std::unique_ptr<CommandBundle> load_start_definitions(Services& services, const Settings& engine,
                                                      const std::function<void(const std::string&)>& report,
                                                      const std::function<bool()>& stopping) {
    const ServerSettings& settings = services.settings;
    Start start(settings, engine, report);
    std::istringstream folders(settings.load_synthdefs ? settings.synthdef_path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (!folder.empty() && !stopping())
            start.load(folder);
    auto bindings = parse_bindings(settings.bindings);
    std::vector<StartBinding> bound = bindings ? std::move(bindings.value()) : std::vector<StartBinding>();
    for (const StartBinding& each : bound)
        start.find(each.keys.synthdef);

    auto bundle = std::make_unique<CommandBundle>();
    services.sources.note(start.definitions());
    if (!start.definitions().empty())
        bundle->append(make_install(std::move(start.definitions())).release());
    for (int32_t id = 0; StartBinding & each : bound) {
        auto binding = std::make_unique<KeyBinding>(--id, std::move(each.keys));
        binding->set_words(std::move(each.words));
        bundle->append(new BindAtStart(std::move(binding)));
    }
    if (settings.control_osc)
        bundle->append(new BindAtStart(std::make_unique<PacketBinding>(services)));
    if (!bundle->first)
        return nullptr;
    return bundle;
}

} // namespace scs::osc
