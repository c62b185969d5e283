// SPDX-License-Identifier: GPL-3.0-or-later
// A silent node with mono DSP ports out_1..out_N and in_1..in_M, standing in for the real one.
// usage: dsp-node OUTPUTS INPUTS [key=value | +in:NAME | +out:NAME …]
// With + control ports of these names, of which the outputs are hardware's.
// Further key=value lines on standard input, if that is a pipe, change the node's properties; its end ends the program.
// What it is told in the params of its Props, it prints: "key: text".
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <pipewire/filter.h>
#include <pipewire/pipewire.h>
#include <spa/param/props.h>
#include <spa/pod/parser.h>

namespace {

struct App {
    pw_main_loop* loop = nullptr;
    pw_filter* filter = nullptr;
    std::string input;
};

void on_process(void*, spa_io_position*) {}

void on_param(void*, void* port, uint32_t id, const spa_pod* param) {
    spa_pod* words = nullptr;
    if (port || id != SPA_PARAM_Props || !param ||
        spa_pod_parse_object(param, SPA_TYPE_OBJECT_Props, nullptr, SPA_PROP_params, SPA_POD_OPT_Pod(&words)) < 0 ||
        !words)
        return;
    spa_pod_parser parser;
    spa_pod_frame frame;
    spa_pod_parser_pod(&parser, words);
    const char *key = nullptr, *text = nullptr;
    if (spa_pod_parser_push_struct(&parser, &frame) >= 0 && spa_pod_parser_get_string(&parser, &key) >= 0 &&
        spa_pod_parser_get_string(&parser, &text) >= 0)
        std::fprintf(stderr, "%s: %s\n", key, text);
}

void add_control(pw_filter* filter, const std::string& argument) {
    const bool output = argument.starts_with("+out:");
    pw_filter_add_port(filter, output ? PW_DIRECTION_OUTPUT : PW_DIRECTION_INPUT, PW_FILTER_PORT_FLAG_MAP_BUFFERS,
                       sizeof(int),
                       pw_properties_new(PW_KEY_FORMAT_DSP, "8 bit raw midi", PW_KEY_PORT_NAME,
                                         argument.c_str() + argument.find(':') + 1, PW_KEY_PORT_PHYSICAL,
                                         output ? "true" : nullptr, nullptr),
                       nullptr, 0);
}

void set_property(pw_properties* props, const std::string& assignment) {
    const auto split = assignment.find('=');
    if (split != std::string::npos)
        pw_properties_set(props, assignment.substr(0, split).c_str(), assignment.substr(split + 1).c_str());
}

void on_input(void* data, int fd, uint32_t) {
    auto* app = static_cast<App*>(data);
    char buffer[256];
    const auto size = read(fd, buffer, sizeof buffer);
    if (size <= 0) {
        pw_main_loop_quit(app->loop);
        return;
    }
    app->input.append(buffer, size_t(size));
    for (auto end = app->input.find('\n'); end != std::string::npos; end = app->input.find('\n')) {
        pw_properties* props = pw_properties_new(nullptr, nullptr);
        set_property(props, app->input.substr(0, end));
        app->input.erase(0, end + 1);
        pw_filter_update_properties(app->filter, nullptr, &props->dict);
        pw_properties_free(props);
    }
}

void add_ports(pw_filter* filter, spa_direction direction, const char* prefix, int count) {
    for (int i = 1; i <= count; ++i) {
        const std::string name = prefix + std::to_string(i);
        pw_filter_add_port(
            filter, direction, PW_FILTER_PORT_FLAG_MAP_BUFFERS, sizeof(int),
            pw_properties_new(PW_KEY_FORMAT_DSP, "32 bit float mono audio", PW_KEY_PORT_NAME, name.c_str(), nullptr),
            nullptr, 0);
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: %s OUTPUTS INPUTS [key=value…]\n", argv[0]);
        return 2;
    }
    pw_init(&argc, &argv);

    App app;
    app.loop = pw_main_loop_new(nullptr);
    pw_properties* props = pw_properties_new(nullptr, nullptr);
    for (int i = 3; i < argc; ++i)
        set_property(props, argv[i]);

    pw_filter_events events{};
    events.version = PW_VERSION_FILTER_EVENTS;
    events.process = on_process;
    events.param_changed = on_param;
    pw_loop* loop = pw_main_loop_get_loop(app.loop);
    app.filter = pw_filter_new_simple(loop, "dsp-node", props, &events, &app);
    add_ports(app.filter, PW_DIRECTION_OUTPUT, "out_", std::atoi(argv[1]));
    add_ports(app.filter, PW_DIRECTION_INPUT, "in_", std::atoi(argv[2]));
    for (int i = 3; i < argc; ++i)
        if (argv[i][0] == '+')
            add_control(app.filter, argv[i]);
    if (pw_filter_connect(app.filter, PW_FILTER_FLAG_RT_PROCESS, nullptr, 0) < 0) {
        std::fprintf(stderr, "cannot connect to PipeWire\n");
        return 1;
    }
    struct stat input;
    if (fstat(STDIN_FILENO, &input) == 0 && S_ISFIFO(input.st_mode))
        pw_loop_add_io(loop, STDIN_FILENO, SPA_IO_IN | SPA_IO_HUP, false, on_input, &app);
    pw_main_loop_run(app.loop);
    pw_filter_destroy(app.filter);
    pw_main_loop_destroy(app.loop);
    pw_deinit();
}
