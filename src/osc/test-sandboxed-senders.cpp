// SPDX-License-Identifier: GPL-3.0-or-later
// Programs of the user that are in a sandbox aren't obeyed, however they come by a socket.
#include "engine/base/descriptors.hpp"
#include "osc/admission.hpp"
#include "osc/holder-watch.hpp"
#include "osc/proc-texts.hpp"
#include "osc/socket-holders.hpp"
#include "osc/test-child.hpp"
#include "osc/test-rig.hpp"
#include "osc/user-session.hpp"
#include "osc/waiting-datagrams.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace scs;
using namespace scs::osc;
using namespace scs::osc::testing;

namespace {

constexpr uid_t nobody = 65534;

sockaddr_in localhost(uint16_t port, const char* address = "127.0.0.1") {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(port);
    ::inet_pton(AF_INET, address, &name.sin_addr);
    return name;
}

int udp(uint16_t port = 0, const char* address = "127.0.0.1", int option = 0) {
    const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
    const int on = 1;
    const sockaddr_in name = localhost(port, address);
    if (option)
        ::setsockopt(fd, SOL_SOCKET, option, &on, sizeof on);
    return ::bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 ? fd : -1;
}

uint16_t port_of(int fd) {
    sockaddr_in name{};
    socklen_t size = sizeof name;
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size);
    return ntohs(name.sin_port);
}

bool send_to(int fd, uint16_t port, const Bytes& bytes) {
    const sockaddr_in name = localhost(port);
    return ::sendto(fd, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&name), sizeof name) ==
           ssize_t(bytes.size());
}

bool answered(int fd, int timeout_ms) {
    pollfd waiting{fd, POLLIN, 0};
    char bytes[1000];
    return ::poll(&waiting, 1, timeout_ms) > 0 && ::recv(fd, bytes, sizeof bytes, 0) > 0;
}

uint64_t inode_of(int fd) {
    struct stat status;
    REQUIRE(::fstat(fd, &status) == 0);
    return status.st_ino;
}

bool new_mounts() {
    return ::unshare(CLONE_NEWNS) == 0;
}
bool new_users() {
    return ::unshare(CLONE_NEWUSER) == 0;
}
bool stay() {
    return true;
}

bool can(bool (*enter)()) {
    const Child child(enter, stay);
    if (!child.entered)
        MESSAGE("skipped: this namespace can't be made here");
    return child.entered;
}

Holders holders_of(uint64_t inode, uint64_t group = 0) {
    const SocketId socket{inode, 1, group};
    return find_holders("/proc", ::geteuid(), std::span(&socket, 1)).at(0);
}

bool refuses(Rig& rig, uint64_t count) {
    return wait_until([&] { return rig.server().counters().refused >= count; }) &&
           rig.server().counters().refused == count;
}

/// What a server obeys of a sandbox that sends from a socket of its own.
void check_refused(bool (*enter)()) {
    Rig rig;
    Client owner(rig);
    const uint16_t port = rig.server().port();
    const Bytes packet = message("/b_alloc", {1, 64, 1}), status = message("/status");
    {
        const Child child(enter, [&] {
            const int fd = udp();
            return send_to(fd, port, packet) && send_to(fd, port, status) && !answered(fd, 500);
        });
        CHECK(child.succeeded);
        CHECK(refuses(rig, 2));
    }
    owner.send("/b_query", {1});
    CHECK(owner.receive() == "/b_info 1 0 0 0f");
    CHECK(rig.server().counters().received == 1);
    CHECK(rig.log().find("than the user's session, was refused") != std::string::npos);
}

} // namespace

TEST_CASE("a program in another mount namespace isn't obeyed") {
    if (can(new_mounts))
        check_refused(new_mounts);
}

TEST_CASE("a program in another user namespace isn't obeyed") {
    if (can(new_users))
        check_refused(new_users);
}

TEST_CASE("of what a program sends before it is known, each datagram is obeyed or counted") {
    Rig rig;
    const int fd = udp();
    uint64_t count = 0;
    const auto send = [&] { count += send_to(fd, rig.server().port(), message("/c_set", {1, 1.f})); };
    while (count < 3000)
        send();
    const PacketCounters& counters = rig.server().counters();
    CHECK(wait_until([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        send(); // what the kernel has dropped it says with the next one
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        return counters.received + counters.refused + counters.kernel_dropped == count;
    }));
    CHECK(counters.received > 0);
    ::close(fd);
}

TEST_CASE("with allow = user it is") {
    if (!can(new_mounts))
        return;
    ServerSettings settings;
    settings.allow = "user";
    Rig rig(settings);
    const uint16_t port = rig.server().port();
    const Child child(new_mounts, [&] {
        const int fd = udp();
        return send_to(fd, port, message("/status")) && answered(fd, 5000);
    });
    CHECK(child.succeeded);
    CHECK(rig.server().counters().refused == 0);
}

TEST_CASE("nor is its connection, and that of a program outside is") {
    if (!can(new_mounts))
        return;
    Rig rig;
    const uint16_t port = rig.server().port();
    Bytes framed;
    const Bytes packet = message("/status");
    put_int(framed, packet.size(), 4);
    framed.insert(framed.end(), packet.begin(), packet.end());
    const auto knock = [&] {
        const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
        const sockaddr_in name = localhost(port);
        return ::connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 &&
               ::send(fd, framed.data(), framed.size(), MSG_NOSIGNAL) > 0 && answered(fd, 5000);
    };
    {
        const Child child(new_mounts, [&] { return !knock(); });
        CHECK(child.succeeded);
        CHECK(refuses(rig, 1));
    }
    CHECK(rig.server().counters().received == 0);
    CHECK(knock());
}

TEST_CASE("a sandbox that shares the port of a program outside") {
    if (!can(new_mounts))
        return;
    Rig rig;
    const uint16_t port = rig.server().port();
    for (const int option : {SO_REUSEPORT, SO_REUSEADDR}) {
        const int owner = udp(0, "127.0.0.1", option);
        REQUIRE(owner >= 0);
        const uint64_t refused = rig.server().counters().refused;
        {
            const Child child(new_mounts, [&] {
                const int fd = udp(port_of(owner), "127.0.0.1", option);
                ::close(owner);
                return fd >= 0 && send_to(fd, port, message("/status"));
            });
            CHECK(child.succeeded);
            CHECK(refuses(rig, refused + 1));
        }
        CHECK(rig.server().counters().received == 0);
        ::close(owner);
    }
}

TEST_CASE("a sandbox that takes a port that a program outside has just left isn't taken for that") {
    if (!can(new_mounts))
        return;
    Rig rig;
    const uint16_t port = rig.server().port();
    const int owner = udp();
    const uint16_t its_port = port_of(owner);
    REQUIRE(send_to(owner, port, message("/status")));
    REQUIRE(answered(owner, 5000));
    ::close(owner);
    const Child child(new_mounts, [&] {
        const int fd = udp(its_port);
        return fd >= 0 && send_to(fd, port, message("/status")) && !answered(fd, 500);
    });
    CHECK(child.succeeded);
    CHECK(rig.server().counters().refused == 1);
}

TEST_CASE("a descriptor that a sandbox has inherited, and one that a sandbox has handed on") {
    if (!can(new_mounts))
        return;
    const int fd = udp();
    CHECK(holders_of(inode_of(fd)).obeyed);
    {
        const Child heir(new_mounts, stay);
        const Holders holders = holders_of(inode_of(fd));
        CHECK_FALSE(holders.obeyed);
        CHECK(holders.why.find("process " + std::to_string(heir.pid()) + " (") != std::string::npos);
    }
    CHECK(holders_of(inode_of(fd)).obeyed);
    {
        const Child other(new_mounts, [&] { return ::close(fd) == 0; });
        CHECK(holders_of(inode_of(fd)).obeyed);
    }
    ::close(fd);
}

TEST_CASE("what is in use is looked at again") {
    if (!can(new_mounts))
        return;
    Rig rig;
    const uint16_t port = rig.server().port();
    const int fd = udp();
    REQUIRE(send_to(fd, port, message("/status")));
    REQUIRE(answered(fd, 5000));
    {
        const Child heir(new_mounts, stay);
        CHECK(wait_until([&] {
            REQUIRE(send_to(fd, port, message("/status")));
            (void)answered(fd, 20);
            return rig.server().counters().refused > 0;
        }));
    }
    while (answered(fd, 50)) {
    }
    CHECK(wait_until([&] { // it has ended
        REQUIRE(send_to(fd, port, message("/status")));
        return answered(fd, 50);
    }));
    ::close(fd);
}

TEST_CASE("a socket that is on its way in a message, and one that is gone, have no holder") {
    int pair[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) == 0);
    const int fd = udp();
    const uint64_t inode = inode_of(fd);
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    char byte = 0;
    iovec data{&byte, 1};
    msghdr parcel{};
    parcel.msg_iov = &data;
    parcel.msg_iovlen = 1;
    parcel.msg_control = control;
    parcel.msg_controllen = sizeof control;
    cmsghdr* head = CMSG_FIRSTHDR(&parcel);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
    REQUIRE(::sendmsg(pair[0], &parcel, 0) == 1);
    ::close(fd);
    CHECK_FALSE(holders_of(inode).obeyed);
    for (const int each : pair)
        ::close(each);
    CHECK_FALSE(holders_of(inode).obeyed);
}

TEST_CASE("nothing listens at an abstract address, which every sandbox with the host's network reaches") {
    Rig rig;
    std::ifstream sockets("/proc/net/unix");
    const std::string name = "pw-scsynth-" + std::to_string(rig.server().port());
    int abstract = 0;
    for (std::string line; std::getline(sockets, line);)
        abstract += line.find("@") != std::string::npos && line.find(name) != std::string::npos;
    CHECK(abstract == 0);
}

// ---- what /proc says, made up

namespace {

/// A /proc with processes of this user: this one, 1 and those that a test adds.
class Proc {
public:
    static constexpr const char *mounts = "30 1 0:1 / / rw - ext4 /dev/a rw\n", *users = "0 0 4294967295\n";

    Proc() {
        char name[] = "/tmp/scs-proc-XXXXXX";
        REQUIRE(::mkdtemp(name));
        path = name;
        add("self");
        add("1");
        write("self", "status", "Name:\tx\nPPid:\t0\nUid:\t0\t0\t0\t0\n");
    }
    ~Proc() { std::filesystem::remove_all(path); }

    void add(const std::string& process) {
        std::filesystem::create_directories(path + "/" + process + "/fd");
        write(process, "comm", "name\n");
        write(process, "mountinfo", mounts);
        write(process, "uid_map", users);
        write(process, "cgroup", "0::/\n");
    }
    void write(const std::string& process, const char* file, const std::string& text) {
        std::ofstream(path + "/" + process + "/" + file) << text;
    }
    void hold(const std::string& process, uint64_t inode) {
        std::filesystem::create_symlink("socket:[" + std::to_string(inode) + "]",
                                        path + "/" + process + "/fd/" + std::to_string(++descriptors_));
    }
    UserSession::Place place(const std::string& process) const {
        const Descriptor folder(::open((path + "/" + process).c_str(), O_PATH | O_CLOEXEC));
        return UserSession(path, ::geteuid()).place_of(folder.get());
    }
    Holders holders(uint64_t inode, uint64_t group = 0) const {
        const SocketId socket{inode, 1, group};
        return find_holders(path, ::geteuid(), std::span(&socket, 1)).at(0);
    }
    /// Control groups, in which processes are put.
    uint64_t make_group(const std::string& name) {
        const std::string folder = path + "/groups/" + name;
        std::filesystem::create_directories(folder);
        write("self", "mountinfo", mounts + ("31 30 0:2 / " + path + "/groups rw - cgroup2 none rw\n"));
        struct stat status;
        REQUIRE(::stat(folder.c_str(), &status) == 0);
        return status.st_ino;
    }
    void join(const std::string& process, const std::string& group) { write(process, "cgroup", "0::/" + group + "\n"); }

    std::string path;

private:
    int descriptors_ = 2;
};

using Kind = UserSession::Place::Kind;

} // namespace

TEST_CASE("where a program is") {
    Proc proc;
    proc.add("7");
    CHECK(proc.place("7").kind == Kind::inside);
    SUBCASE("another mount namespace") {
        proc.write("7", "mountinfo", "31 1 0:1 / / rw - ext4 /dev/a rw\n");
        CHECK(proc.place("7").kind == Kind::outside);
    }
    SUBCASE("no root folder") {
        proc.write("7", "mountinfo", "");
        CHECK(proc.place("7").kind == Kind::outside);
    }
    SUBCASE("another user namespace") {
        for (const char* map : {"", "0 1000 1\n"}) {
            proc.write("7", "uid_map", map);
            CHECK(proc.place("7").kind == Kind::outside);
        }
    }
    SUBCASE("snaps") {
        proc.write("7", "attr", ""); // what is there isn't a folder
        CHECK(proc.place("7").kind == Kind::inside);
        std::filesystem::remove(proc.path + "/7/attr");
        std::filesystem::create_directory(proc.path + "/7/attr");
        proc.write("7", "attr/current", "snap.code.code (complain)\n");
        CHECK(proc.place("7").kind == Kind::inside);
        proc.write("7", "attr/current", "snap.sclang.sclang (enforce)\n");
        CHECK(proc.place("7").kind == Kind::outside);
    }
    SUBCASE("a Flatpak, unless the server is in one itself") {
        std::filesystem::create_directory(proc.path + "/7/root");
        proc.write("7", "root/.flatpak-info", "");
        CHECK(proc.place("7").kind == Kind::outside);
        std::filesystem::create_directory(proc.path + "/self/root");
        proc.write("self", "root/.flatpak-info", "");
        CHECK(proc.place("7").kind == Kind::inside);
    }
    SUBCASE("gone") {
        std::filesystem::remove(proc.path + "/7/mountinfo");
        CHECK(proc.place("7").kind == Kind::gone);
    }
    SUBCASE("the daemon is in namespaces of its own") {
        const char* const own = "90 1 0:1 / / rw - ext4 /dev/a rw\n";
        proc.write("self", "mountinfo", own);
        proc.write("self", "uid_map", "1000 1000 1\n");
        CHECK(proc.place("self").kind == Kind::inside);
        CHECK(proc.place("7").kind == Kind::inside); // as process 1
        proc.write("1", "mountinfo", "91 1 0:1 / / rw - ext4 /dev/a rw\n");
        CHECK(proc.place("7").kind == Kind::outside);
        proc.add("8");
        const std::string users = std::to_string(::geteuid());
        proc.write("8", "status", "PPid:\t0\nUid:\t" + users + "\t" + users + "\t0\t0\n");
        proc.write("self", "status", "PPid:\t8\nUid:\t0\t0\t0\t0\n");
        CHECK(proc.place("7").kind == Kind::inside); // as the service manager
        proc.write("7", "mountinfo", own);
        CHECK(proc.place("7").kind == Kind::outside); // mounts of the one, users of the other
        proc.write("8", "status", "PPid:\t0\nUid:\t4711\t4711\t0\t0\n");
        proc.write("7", "mountinfo", Proc::mounts);
        CHECK(proc.place("7").kind == Kind::outside); // another user's
    }
}

TEST_CASE("who holds a socket") {
    Proc proc;
    proc.add("7");
    proc.add("8");
    proc.write("8", "mountinfo", "31 1 0:1 / / rw - ext4 /dev/a rw\n");
    CHECK_FALSE(proc.holders(5).obeyed);
    CHECK(proc.holders(5).why.find("isn't seen") != std::string::npos);
    proc.hold("7", 5);
    CHECK(proc.holders(5).obeyed);
    CHECK_FALSE(proc.holders(55).obeyed);
    proc.hold("8", 5);
    CHECK(proc.holders(5).why == "process 8 (name), which is in another mount namespace than the user's session");
    SUBCASE("a socket that was made in a sandbox, and handed out of it") {
        const uint64_t of_session = proc.make_group("session"), of_sandbox = proc.make_group("sandbox");
        proc.hold("7", 6);
        proc.join("7", "session");
        proc.join("8", "sandbox");
        CHECK(proc.holders(6, of_session).obeyed);
        CHECK_FALSE(proc.holders(6, of_sandbox).obeyed);
        std::filesystem::remove_all(proc.path + "/8"); // and it has ended
        CHECK_FALSE(proc.holders(6, of_sandbox).obeyed);
        proc.add("9"); // that of another program outside
        proc.join("9", "sandbox");
        CHECK(proc.holders(6, of_sandbox).obeyed);
    }
    SUBCASE("a process whose first thread has ended") {
        proc.hold("7", 6);
        proc.write("8", "status", "Name:\tx\nState:\tZ (zombie)\nPPid:\t1\nUid:\t0\t0\t0\t0\n");
        std::filesystem::remove_all(proc.path + "/8/fd");
        std::filesystem::create_directory(proc.path + "/8/fd");
        std::filesystem::remove(proc.path + "/8/mountinfo");
        CHECK(proc.holders(6).obeyed);
        proc.add("8/task/9");
        CHECK(proc.holders(6).obeyed);
        proc.write("8/task/9", "mountinfo", "31 1 0:1 / / rw - ext4 /dev/a rw\n");
        CHECK(proc.holders(6).obeyed); // it holds another one
        proc.hold("8/task/9", 6);
        CHECK(proc.holders(6).why == "process 8 (name), which is in another mount namespace than the user's session");
        CHECK(proc.holders(55).why.find("it may be process 8 (name)") != std::string::npos);
    }
    SUBCASE("a program's name may be anything") {
        proc.write("8", "comm", "\x1b[2J\n\n");
        CHECK(proc.holders(5).why.find('\x1b') == std::string::npos);
    }
}

TEST_CASE("programs that don't let others look at their descriptors") {
    if (::geteuid() != 0) {
        MESSAGE("skipped: only root can be another user");
        return;
    }
    Proc proc;
    for (const char* each : {"7", "8"})
        proc.add(each);
    proc.write("8", "mountinfo", "31 1 0:1 / / rw - ext4 /dev/a rw\n");
    const uint64_t of_session = proc.make_group("session"), of_sandbox = proc.make_group("sandbox"),
                   of_both = proc.make_group("both");
    for (const auto& each : std::filesystem::recursive_directory_iterator(proc.path))
        REQUIRE(::lchown(each.path().c_str(), nobody, nobody) == 0);
    REQUIRE(::chmod(proc.path.c_str(), 0755) == 0);
    REQUIRE(::chmod((proc.path + "/7/fd").c_str(), 0) == 0);
    const auto obeys = [&](uint64_t group) {
        const Child child(
            [] { return ::setresgid(nobody, nobody, nobody) == 0 && ::setresuid(nobody, nobody, nobody) == 0; },
            [&] { return proc.holders(5, group).obeyed; });
        REQUIRE(child.entered);
        return child.succeeded;
    };
    proc.join("7", "session");
    proc.join("8", "sandbox");
    CHECK(obeys(of_session)); // the one that hides is outside
    CHECK_FALSE(obeys(of_sandbox));
    CHECK_FALSE(obeys(of_both));
    CHECK_FALSE(obeys(0)); // it may be either's
    for (const char* each : {"7", "8"})
        proc.join(each, "both");
    CHECK_FALSE(obeys(of_both));
    REQUIRE(::chmod((proc.path + "/8/fd").c_str(), 0) == 0);
    CHECK_FALSE(obeys(of_both));
    std::filesystem::remove_all(proc.path + "/8");
    CHECK(obeys(0));
}

TEST_CASE("programs that hide are judged by what everybody may read") {
    if (::geteuid() != 0) {
        MESSAGE("skipped: only root can be another user");
        return;
    }
    // A program of nobody's that hides, beside one that looks.
    const auto be_nobody = [] {
        return ::setresgid(nobody, nobody, nobody) == 0 && ::setresuid(nobody, nobody, nobody) == 0;
    };
    const auto place = [&](bool (*enter)()) {
        const Child hidden([&] { return enter() && be_nobody() && ::prctl(PR_SET_DUMPABLE, 0) == 0; }, stay);
        REQUIRE(hidden.entered);
        const Child looking(be_nobody, [&] {
            const std::string folder = "/proc/" + std::to_string(hidden.pid());
            const Descriptor process(::open(folder.c_str(), O_PATH | O_CLOEXEC));
            return ::access((folder + "/fd").c_str(), R_OK) != 0 &&
                   UserSession("/proc", nobody).place_of(process.get()).kind == Kind::inside;
        });
        return looking.succeeded;
    };
    CHECK(place(stay));
    if (can(new_mounts))
        CHECK_FALSE(place(new_mounts));
}

TEST_CASE("/proc that can't be read is an error, not an answer") {
    const SocketId socket{5, 1, 0};
    CHECK_THROWS(find_holders("/nowhere", ::geteuid(), std::span(&socket, 1)));
    CHECK(why_not_found("/nowhere", 5) != "");
    const int fd = udp();
    CHECK(why_not_found("/proc", inode_of(fd)) == "");
    ::close(fd);
    Proc proc;
    CHECK(find_holders(proc.path, ::geteuid(), std::span(&socket, 1), [] { return true; }).empty());
}

TEST_CASE("texts of /proc") {
    CHECK(root_mount("22 27 0:21 / /proc rw - proc proc rw\n27 1 0:1 / / rw - ext4 a rw\n") == 27);
    for (const char* text : {"", "\n", "27 1 0:1 / / rw", "27 1 0:1 / /a rw\n", "x 1 0:1 / / rw\n", "27\n"})
        CHECK_FALSE(root_mount(text));
    const auto status = parse_status("Name:\tUid:\nPPid:\t12\nUid:\t1\t2\t3\t4\n");
    REQUIRE(status);
    CHECK(status->parent == 12);
    CHECK(status->user == 1);
    CHECK(status->effective_user == 2);
    for (const char* text : {"", "PPid:\t1\n", "Uid:\t1\t2\n", "PPid:\tx\nUid:\t1\t2\n", "PPid:\t1\nUid:\t1\n"})
        CHECK_FALSE(parse_status(text));
    CHECK(is_confined_snap("snap.a.b (enforce)\n"));
    for (const char* text : {"", "unconfined\n", "snap.a.b (complain)", "snap.a.b", "other.snap.a (enforce)"})
        CHECK_FALSE(is_confined_snap(text));
    CHECK(unified_group("1:cpu:/a\n0::/b/c\n") == "/b/c");
    CHECK_FALSE(unified_group("1:cpu:/a\n"));
    CHECK_FALSE(unified_group("0::b\n"));
    CHECK(unified_groups_folder("1 2 0:3 / /a\\040b rw shared:1 - cgroup2 none rw\n") == "/a b");
    CHECK_FALSE(unified_groups_folder("1 2 0:3 /part /a rw - cgroup2 none rw\n"));
    CHECK_FALSE(unified_groups_folder("1 2 0:3 / /a rw - cgroup none rw\n"));
    CHECK(socket_inode("socket:[12]") == 12);
    for (const char* text : {"", "socket:[]", "socket:[", "socket:[1x]", "pipe:[12]", "socket:[99999999999999999999]"})
        CHECK_FALSE(socket_inode(text));
}

TEST_CASE("answers are remembered as long as they may be") {
    using namespace std::chrono_literals;
    Proc proc;
    HolderWatch watch(proc.path);
    proc.add("7");
    proc.hold("7", 5);
    const SocketId socket{5, 1, 0}, other{6, 2, 0};
    std::atomic<int> told{0};
    std::thread thread([&] { watch.run([&] { ++told; }); });
    const auto settled = [&](const SocketId& each, HolderWatch::Clock::time_point now) {
        wait_until([&] { return watch.ask(each, now) != HolderWatch::Answer::later; });
        return watch.ask(each, now);
    };
    const auto now = HolderWatch::Clock::now();
    CHECK(watch.ask(socket, now) == HolderWatch::Answer::later);
    CHECK(settled(socket, now) == HolderWatch::Answer::obeyed);
    CHECK(told > 0);
    CHECK(settled(other, now) == HolderWatch::Answer::refused);
    CHECK(watch.why(other) != "");
    proc.hold("7", 6); // nobody has looked since
    CHECK(watch.ask(other, now) == HolderWatch::Answer::refused);
    const auto looks = watch.effort().first;
    CHECK(watch.ask(socket, now + 900ms) == HolderWatch::Answer::obeyed);
    CHECK(watch.ask(socket, now + 9s) == HolderWatch::Answer::obeyed); // and it looks again
    CHECK(wait_until([&] { return watch.effort().first > looks; }));
    CHECK(watch.ask(socket, HolderWatch::Clock::now() + 30s) == HolderWatch::Answer::later);
    CHECK(settled(other, HolderWatch::Clock::now() + 2s) == HolderWatch::Answer::refused);
    CHECK(wait_until([&] { return watch.ask(other, HolderWatch::Clock::now()) == HolderWatch::Answer::obeyed; }));
    CHECK(settled(socket, HolderWatch::Clock::now()) == HolderWatch::Answer::obeyed);
    for (uint64_t cookie = 10; cookie < 10 + 2 * HolderWatch::most_known; ++cookie) // more than it remembers
        (void)watch.ask({cookie, cookie, 0});
    CHECK(watch.ask(socket, HolderWatch::Clock::now()) == HolderWatch::Answer::obeyed);
    watch.stop();
    thread.join();
}

TEST_CASE("datagrams wait in order, and no more than fit") {
    WaitingDatagrams waiting;
    std::array<std::byte, 60000> bytes{};
    const UdpPeer alice{1, 1}, bob{1, 2};
    const auto add = [&](const UdpPeer& from, size_t size, int first) {
        bytes[0] = std::byte(first);
        return waiting.add({std::span(bytes).first(size), from, {}}, {}, {});
    };
    REQUIRE(add(alice, 10, 1));
    REQUIRE(add(bob, 10, 2));
    REQUIRE(add(alice, 10, 3));
    std::string taken;
    bool known = false;
    const auto obeyed = [&](const WaitingDatagrams::Datagram& each) -> std::optional<bool> {
        if (each.from == alice && !known) {
            known = true; // the answer comes while they are asked of
            return std::nullopt;
        }
        return each.from == alice;
    };
    const auto take = [&](const WaitingDatagrams::Datagram& each) { taken += std::to_string(int(each.bytes[0])); };
    waiting.take(obeyed, take);
    CHECK(taken == "");
    CHECK(waiting.any_of(alice));
    CHECK_FALSE(waiting.any_of(bob));
    waiting.take(obeyed, take);
    CHECK(taken == "13");
    size_t count = 0;
    while (add(alice, bytes.size(), 1))
        ++count;
    CHECK(count == WaitingDatagrams::most_of_one / (bytes.size() + WaitingDatagrams::overhead));
    CHECK(add(bob, bytes.size(), 1));
    waiting.take([](const auto&) { return std::optional(false); }, take);
    CHECK(add(alice, bytes.size(), 1));
}
