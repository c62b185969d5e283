// SPDX-License-Identifier: GPL-3.0-or-later
// Its signal handlers would replace those under test.
#define DOCTEST_CONFIG_NO_POSIX_SIGNALS
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstring>
#include <iostream>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr const char* skipped = "skipped: ";
std::string file; ///< how the file ends whose cases are to be run, as meson's tests name it: -sf=*/test-subject.cpp
bool none_ran = false;

/// Says which cases are skipped, one a line, for tools/counts.py: those with doctest's skip(), and those that find out
/// while they run that something isn't here, say so with MESSAGE("skipped: why") and return. Says as well how many
/// cases are other files', and whether none was run: a misspelt file would pass.
class SkipReporter : public doctest::IReporter {
public:
    explicit SkipReporter(const doctest::ContextOptions&) {}

    void test_case_start(const doctest::TestCaseData& test_case) override {
        const std::lock_guard lock(mutex_);
        name_ = test_case.m_name;
        reason_.clear();
    }
    void log_message(const doctest::MessageData& message) override {
        const std::lock_guard lock(mutex_);
        const char* text = message.m_string.c_str();
        if (std::strncmp(text, skipped, std::strlen(skipped)) == 0)
            reason_ = text + std::strlen(skipped);
    }
    void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
        const std::lock_guard lock(mutex_);
        if (!reason_.empty() && stats.failure_flags == 0)
            print("[skipped on the way] ", name_, reason_);
    }
    void test_run_end(const doctest::TestRunStats& stats) override {
        none_ran = stats.numTestCasesPassingFilters == 0;
        if (elsewhere_)
            std::cout << "[of other files] " << elsewhere_ << std::endl;
    }

    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_case_skipped(const doctest::TestCaseData& test_case) override {
        if (!std::string_view(test_case.m_file.c_str()).ends_with(file))
            ++elsewhere_;
        else if (test_case.m_skip)
            print("[skipped] ", test_case.m_name,
                  test_case.m_description != nullptr ? test_case.m_description : "no reason given");
    }
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}

private:
    static void print(const char* mark, const std::string& name, const std::string& reason) {
        std::cout << mark << name << ": " << reason << std::endl;
    }

    std::mutex mutex_; // cases log from threads of theirs
    std::string name_;
    std::string reason_;
    int elsewhere_ = 0;
};

REGISTER_LISTENER("skipped", 0, SkipReporter);

} // namespace

int main(int argc, char** argv) {
    constexpr std::string_view option = "-sf=*";
    for (const std::string_view word : std::vector<std::string_view>(argv + 1, argv + argc))
        if (word.starts_with(option))
            file = word.substr(option.size());
    const int status = doctest::Context(argc, argv).run();
    if (none_ran)
        std::cout << "no case was run" << std::endl;
    return none_ran ? 1 : status;
}
