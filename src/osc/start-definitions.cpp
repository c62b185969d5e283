// SPDX-License-Identifier: GPL-3.0-or-later
#include "osc/start-definitions.hpp"

#include "osc/definition-files.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <vector>

namespace scs::osc {

namespace {

class InstallAtStart final : public Command {
public:
    explicit InstallAtStart(std::vector<std::unique_ptr<Definition>> definitions)
        : definitions_(std::move(definitions)) {}
    Outcome run(Engine& engine) noexcept override {
        install(engine, definitions_);
        return Outcome::done;
    }

private:
    std::vector<std::unique_ptr<Definition>> definitions_;
};

} // namespace

std::unique_ptr<CommandBundle> load_start_definitions(const ServerSettings& settings, const Settings& engine,
                                                      const std::function<void(const std::string&)>& report,
                                                      const std::function<bool()>& stopping) {
    std::vector<std::unique_ptr<Definition>> all;
    std::istringstream folders(settings.load_synthdefs ? settings.synthdef_path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (folder.empty() || stopping())
            continue;
        LoadedDefinitions loaded = load_folder(folder, "", engine);
        std::move(loaded.definitions.begin(), loaded.definitions.end(), std::back_inserter(all));
        for (const std::string& error : loaded.errors)
            report(error);
    }
    if (all.empty())
        return nullptr;
    auto bundle = std::make_unique<CommandBundle>();
    bundle->append(new InstallAtStart(std::move(all)));
    return bundle;
}

} // namespace scs::osc
