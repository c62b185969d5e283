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

bool CommandBundle::calls_plugin() const noexcept {
    for (const Command* c = first; c; c = c->next)
        if (c->calls_plugin() || (c->completion && c->completion->calls_plugin()))
            return true;
    return false;
}

CommandBundle::~CommandBundle() {
    for (Command* c = first; c;) {
        Command* following = c->next;
        delete c;
        c = following;
    }
}

} // namespace scs
