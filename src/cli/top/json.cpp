// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/top/json.hpp"

#include "cli/top/json-writer.hpp"

#include <cstdint>

namespace scs::top {

namespace {

class Picture {
public:
    explicit Picture(const Model& model) : model_(model) {}

    std::string write(const std::string& host, int port) {
        json_.begin_object();
        json_.key("host").string(host);
        json_.key("port").number(int64_t(port));
        add_server(model_.server);
        json_.key("whole").boolean(model_.whole);
        json_.key("groups").begin_list();
        for (const GroupLine& group : model_.groups)
            add_group(group);
        json_.end_list().end_object();
        return json_.take();
    }

private:
    void add_server(const ServerFigures& server) {
        json_.key("block").number(int64_t(server.block_frames));
        json_.key("rate").number(double(server.rate));
        json_.key("load").number(double(server.load));
        json_.key("peak").number(double(server.peak));
        add_if_any("limit", server.limit > 0, server.limit);
        add_if_any("worst_block", server.longest_block, model_.percent(server.longest_block));
        json_.key("threads").number(int64_t(server.threads));
        json_.key("synths").number(int64_t(server.synths));
        json_.key("group_count").number(int64_t(server.groups));
        json_.key("cuts").number(int64_t(server.cuts));
        json_.key("ended").number(int64_t(server.ended));
        json_.key("paused").number(int64_t(server.paused));
    }
    void add_if_any(const char* key, bool any, double value) {
        json_.key(key);
        any ? json_.number(value) : json_.null();
    }
    void add_group(const GroupLine& group) {
        json_.begin_object();
        json_.key("id").number(int64_t(group.id));
        json_.key("parent");
        group.depth ? json_.number(int64_t(model_.groups[group.parent].id)) : json_.null();
        json_.key("runs").boolean(group.runs);
        add_sums(group.all);
        json_.key("synthdefs").begin_list();
        for (const DefLine& def : group.defs) {
            json_.begin_object().key("name").string(def.name);
            add_sums(def.sums);
            json_.end_object();
        }
        json_.end_list().end_object();
    }
    void add_sums(const Sums& sums) {
        json_.key("cost").number(model_.percent(sums.nsec));
        json_.key("estimated").boolean(sums.estimated);
        json_.key("unmeasured").number(int64_t(sums.unmeasured));
        json_.key("running").number(int64_t(sums.running));
        json_.key("paused").number(int64_t(sums.paused));
        json_.key("batches").number(int64_t(sums.batches));
    }

    const Model& model_;
    JsonWriter json_;
};

} // namespace

std::string to_json(const Model& model, const std::string& host, int port) {
    return Picture(model).write(host, port);
}

} // namespace scs::top
