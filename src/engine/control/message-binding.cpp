// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/control/message-binding.hpp"

#include "engine/messages/events.hpp"
#include "engine/messages/outbox.hpp"

namespace scs {

void MessageBinding::handle(const ControlEvent& event, BindingTargets& targets) noexcept {
    if (!event.of_channel() || !event.of_midi1())
        return;
    const MidiEvent message{{EventKind::midi, sizeof message},
                            id(),
                            uint8_t(event.kind),
                            event.port,
                            event.channel,
                            uint8_t(event.number),
                            event.value,
                            targets.time};
    (void)targets.outbox.notify(message);
}

} // namespace scs
