// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/messages/command.hpp"

namespace scs {

Command::~Command() {
    delete completion;
}

void CommandBundle::append(Command* command) noexcept {
    command->bundle = this;
    (last ? last->next : first) = command;
    last = command;
}

CommandBundle::~CommandBundle() {
    for (Command* c = first; c;) {
        Command* following = c->next;
        delete c;
        c = following;
    }
}

} // namespace scs
