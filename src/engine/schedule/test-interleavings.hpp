// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/schedule/test-fiber.hpp"
#include "engine/schedule/test-memory.hpp"

#include <functional>
#include <string>
#include <unordered_map>

namespace scs::test {

/// Runs threads in every order in which their accesses to atomic variables (Atomic) may follow each other, and with
/// every value that these may find (Memory), and says what went wrong in one of them: a race for a plain variable
/// (Plain), a requirement that isn't met, or threads that all wait.
///
/// The threads are fibers. Each run makes everything anew and follows the one before up to the last moment at which
/// something else may happen, so what threads do must depend on nothing but what they find. A run that comes to a state
/// that an earlier one has been in ends there. What makes a state is the memory, and for each thread the values that it
/// has found since it was last at() a place.
class Interleavings {
public:
    struct Threads {
        virtual ~Threads() = default;
        virtual void run(size_t thread) = 0;
    };
    enum class Orders {
        all,
        /// Those that make a difference: each of the others finds the same as one of these. A read may as well come
        /// later, as it may find older values. A write where nobody else writes may as well come earlier, as others may
        /// overlook it. So reads, one access of another kind, and such writes are taken as one access (Lipton 1975).
        different
    };
    struct Result {
        std::string failure; ///< empty: there is none
        double count = 0;    ///< of interleavings; if there is no failure
        size_t states = 0;
    };

    /// `make`: makes the shared state; what it writes there, all threads know.
    static Result explore(size_t threads, const std::function<std::unique_ptr<Threads>()>& make,
                          Orders orders = Orders::different) {
        Interleavings all(threads, make, orders);
        current_ = &all;
        do
            all.run_once();
        while (all.result_.failure.empty() && all.go_back());
        all.result_.states = all.known_.size();
        current_ = nullptr;
        return all.result_;
    }

    // ---- for threads

    /// All that the thread does from now on follows from this number and what it finds from now on.
    static void at(uint64_t place) {
        Thread& self = current_->self();
        self.history = Memory::mix(place);
        self.read.clear();
        self.news = self.missed = self.interrupted = false;
    }
    /// Waits until others have written to what the thread has read since it was last at() a place. Like at(): to be
    /// called in a loop that looks again whether there is something to do.
    static void wait(uint64_t place) {
        Thread& self = current_->self();
        self.history = Memory::mix(place);
        self.waits = true;
        // A thread that has looked in vain may as well not have looked yet.
        if (current_->orders_ == Orders::different) {
            if (!self.moved && !self.touched)
                current_->memory_.forget(current_->running_, self.known);
            self.news = self.interrupted;
        }
        current_->hand_over();
        self.waits = false;
        at(place);
    }
    static void require(bool holds, const char* what) {
        if (!holds)
            current_->fail(what);
    }

private:
    template <class>
    friend class Atomic;
    friend class Plain;
    using Access = Memory::Access;

    struct Thread {
        Fiber fiber;
        uint64_t history = 0;
        bool waits = false, ended = false;
        std::vector<uint32_t> read; ///< atomic variables, since it was last at() a place
        bool news = false;          ///< another thread has written there since
        bool missed = false;        ///< one of these had a newer value
        bool interrupted = false;   ///< others had turns since it has read the first of these
        Memory::View known{};       ///< when its turn came
        bool moved = false;         ///< since then it has done what no read may come after
        bool touched = false;       ///< since then it has read or written plain variables
    };
    /// A moment at which different things may happen.
    struct Branch {
        std::vector<size_t> choices; ///< threads, or outcomes of an access
        uint64_t state;
        size_t choice = 0;
        double count = 0; ///< interleavings from here on
    };
    struct Step {
        size_t thread;
        Access access;
        uint64_t found;
    };
    static constexpr size_t nobody = SIZE_MAX, many = SIZE_MAX - 1, most_steps = 2000, shown_steps = 60;

    Interleavings(size_t threads, const std::function<std::unique_ptr<Threads>()>& make, Orders orders)
        : make_(make), count_(threads), orders_(orders), memory_(threads) {}

    Thread& self() { return threads_[running_]; }

    // ---- a run

    void run_once() {
        memory_.clear();
        steps_.clear();
        depth_ = running_ = 0;
        for (size_t i = 0; i < count_; ++i) {
            Thread& thread = threads_[i];
            thread.history = 0;
            thread.waits = thread.ended = thread.news = thread.missed = thread.interrupted = false;
            thread.read.clear();
            thread.fiber.start([](void* all) { static_cast<Interleavings*>(all)->run_thread(); }, this);
        }
        shared_ = make_();
        memory_.share_all();
        live_ = true;
        if (const size_t first = pick_thread(); first != nobody) {
            running_ = first;
            Fiber::switch_to(outside_, threads_[first].fiber);
        }
        live_ = false;
        shared_.reset();
    }
    void run_thread() {
        self().history = 1;
        begin_turn();
        shared_->run(running_);
        self().ended = true;
        memory_.leave(running_);
        hand_over();
    }
    void begin_turn() {
        self().moved = self().touched = false;
        self().known = memory_.known(running_);
    }
    /// Lets others run before this thread goes on, or nobody any more.
    void hand_over() {
        Thread& self = this->self();
        const size_t next = pick_thread();
        if (next == nobody)
            Fiber::switch_to(self.fiber, outside_);
        if (next != running_) {
            running_ = next;
            Fiber::switch_to(self.fiber, threads_[next].fiber);
        }
        self.interrupted = self.interrupted || !self.read.empty();
        begin_turn();
    }

    uint64_t access(const Access& access) {
        if (!live_)
            return access.kind == Access::store ? memory_.first(access.variable) = access.operand
                                                : memory_.first(access.variable); // the state is being made
        const bool alone = writes_alone(access), strict = access.order == std::memory_order_seq_cst;
        if (orders_ == Orders::all || (self().moved && !alone))
            hand_over();
        const size_t outcomes = memory_.outcomes(running_, access), newest = outcomes - 1;
        const size_t outcome = outcomes > 1 ? pick_outcome(outcomes) : newest;
        const uint64_t found = memory_.perform(running_, access, outcome);
        self().moved = self().moved || Memory::writes(access, found) || strict;
        self().missed = self().missed || outcome != newest;
        steps_.push_back({running_, access, found});
        self().history = Memory::mix(self().history + found + 1);
        note_news(access, found);
        return found;
    }
    void note_news(const Access& access, uint64_t found) {
        const auto has_read = [&](const Thread& thread) {
            return std::find(thread.read.begin(), thread.read.end(), access.variable) != thread.read.end();
        };
        if (access.kind != Access::store && !has_read(self()))
            self().read.push_back(access.variable);
        if (Memory::writes(access, found))
            for (Thread& thread : threads_)
                thread.news = thread.news || (&thread != &self() && has_read(thread));
    }
    /// Whether it is a store to where no other thread writes in any run. If one turns up, all begins anew.
    bool writes_alone(const Access& access) {
        if (access.kind == Access::load)
            return false;
        if (writers_.size() <= access.variable)
            writers_.resize(access.variable + 1, nobody);
        size_t& writer = writers_[access.variable];
        if (writer == nobody)
            writer = running_;
        if (writer != running_ && writer != many) {
            writer = many;
            begins_anew_ = true;
        }
        return writer == running_ && access.kind == Access::store && access.order != std::memory_order_seq_cst;
    }
    uint64_t read(uint32_t variable) {
        self().touched = true;
        uint64_t value = 0;
        if (!memory_.read(running_, variable, value))
            fail("a race: what is read may just be written");
        self().history = Memory::mix(self().history + value + 1);
        return value;
    }
    void write(uint32_t variable, uint64_t value) {
        self().touched = true;
        if (!memory_.write(running_, variable, value))
            fail("a race: what is written may just be read or written");
    }

    // ---- what happens next

    /// nobody: the run ends.
    size_t pick_thread() {
        if (!any_can_run() && !refresh()) {
            reached(1);
            for (size_t i = 0; i < count_; ++i)
                if (!threads_[i].ended)
                    note_failure("all threads wait");
            return nobody;
        }
        if (steps_.size() > most_steps) {
            note_failure("there is no end");
            return nobody;
        }
        if (depth_ == path_.size()) {
            const uint64_t state = hash();
            if (const auto known = known_.find(state); known != known_.end()) {
                reached(known->second);
                return nobody;
            }
            path_.push_back({{}, state});
            for (size_t i = 0; i < count_; ++i) // who runs first, as to go on with another takes time
                if (const size_t thread = (running_ + i) % count_; can_run(threads_[thread]))
                    path_.back().choices.push_back(thread);
        }
        return choice();
    }
    size_t pick_outcome(size_t outcomes) {
        if (depth_ == path_.size()) {
            const uint64_t state = Memory::mix(hash() + running_);
            if (const auto known = known_.find(state); known != known_.end()) {
                reached(known->second);
                Fiber::switch_to(self().fiber, outside_);
            }
            path_.push_back({{}, state});
            for (size_t outcome = outcomes; outcome-- > 0;)
                path_.back().choices.push_back(outcome);
        }
        return choice();
    }
    size_t choice() {
        const Branch& branch = path_[depth_++];
        return branch.choices[branch.choice];
    }
    static bool can_run(const Thread& thread) { return !thread.ended && (!thread.waits || thread.news); }
    bool any_can_run() const { return std::any_of(threads_.begin(), threads_.begin() + ptrdiff_t(count_), can_run); }
    /// If all wait, what they have missed comes to them. false: there is nothing.
    bool refresh() {
        for (size_t i = 0; i < count_; ++i)
            if (Thread& thread = threads_[i]; std::exchange(thread.missed, false)) {
                memory_.refresh(i);
                thread.news = true;
            }
        return any_can_run();
    }
    uint64_t hash() {
        uint64_t sum = memory_.hash();
        for (size_t i = 0; i < count_; ++i) {
            const Thread& thread = threads_[i];
            uint64_t look = thread.waits + thread.ended * 2u;
            if (thread.waits || orders_ == Orders::all) {
                look += thread.news * 4u + thread.missed * 8u;
                for (const uint32_t variable : thread.read)
                    look += Memory::mix(variable);
            }
            sum += Memory::mix(Memory::mix(thread.history + i) + look);
        }
        return sum;
    }

    /// How many interleavings lead on from here.
    void reached(double count) { (path_.empty() ? result_.count : path_.back().count) += count; }
    /// To where something else can be tried. false: all was.
    bool go_back() {
        if (std::exchange(begins_anew_, false)) {
            path_.clear();
            known_.clear();
            result_.count = 0;
            return true;
        }
        while (!path_.empty()) {
            Branch& last = path_.back();
            if (++last.choice < last.choices.size())
                return true;
            const double count = last.count;
            known_[last.state] = count;
            path_.pop_back();
            reached(count);
        }
        return false;
    }

    // ---- failures

    /// Ends the run, if threads run.
    void fail(const char* what) {
        note_failure(what);
        if (live_)
            Fiber::switch_to(self().fiber, outside_);
    }
    void note_failure(const char* what) {
        static constexpr const char* kinds[] = {"load", "store", "add", "compare_exchange"};
        result_.failure = what;
        for (size_t i = steps_.size() - std::min(steps_.size(), shown_steps); i < steps_.size(); ++i) {
            const auto& [thread, access, found] = steps_[i];
            result_.failure += "\n  thread " + std::to_string(thread) + ": " + kinds[access.kind] + " of atomic " +
                               std::to_string(access.variable) + " finds " + std::to_string(found);
            if (access.kind == Access::compare_exchange)
                result_.failure += ", expects " + std::to_string(access.expected);
            if (access.kind != Access::load)
                result_.failure += ", operand " + std::to_string(access.operand);
        }
    }

    const std::function<std::unique_ptr<Threads>()>& make_;
    const size_t count_;
    const Orders orders_;
    std::unique_ptr<Threads> shared_;
    Memory memory_;
    std::array<Thread, Memory::most_threads> threads_;
    Fiber outside_;
    size_t running_ = 0;
    bool live_ = false; ///< threads run
    std::vector<Branch> path_;
    size_t depth_ = 0;                           ///< how far the run has come in it
    std::unordered_map<uint64_t, double> known_; ///< states from which all was tried: interleavings
    std::vector<size_t> writers_;                ///< of each variable: a thread, nobody or many
    bool begins_anew_ = false;
    std::vector<Step> steps_;
    Result result_;
    static inline Interleavings* current_ = nullptr;
};

/// In place of std::atomic: what it does is up to the interleaving.
template <class T>
class Atomic {
public:
    Atomic() : Atomic(T{}) {}
    Atomic(T value) : variable_(Interleavings::current_->memory_.add_atomic(uint64_t(value))) {}
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;

    T load(std::memory_order order) const { return T(access({Memory::Access::load, variable_, order})); }
    void store(T value, std::memory_order order) {
        access({Memory::Access::store, variable_, order, {}, uint64_t(value)});
    }
    T fetch_add(T value, std::memory_order order) {
        return T(access({Memory::Access::add, variable_, order, {}, uint64_t(value)}));
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order order, std::memory_order failed) {
        const T before = expected;
        expected =
            T(access({Memory::Access::compare_exchange, variable_, order, failed, uint64_t(value), uint64_t(before)}));
        return expected == before;
    }

private:
    static uint64_t access(const Memory::Access& what) { return Interleavings::current_->access(what); }
    uint32_t variable_;
};

/// A number that isn't atomic: something has to order who reads and writes it.
class Plain {
public:
    Plain() : variable_(Interleavings::current_->memory_.add_plain(0)) {}
    Plain(const Plain&) = delete;
    Plain& operator=(const Plain&) = delete;

    uint64_t read() const { return Interleavings::current_->read(variable_); }
    void write(uint64_t value) { Interleavings::current_->write(variable_, value); }

private:
    uint32_t variable_;
};

} // namespace scs::test
