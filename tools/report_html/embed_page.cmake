# Writes SOURCE, a C++ file that holds the bytes of PAGE.
file(READ ${PAGE} bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x[0-9a-f][0-9a-f],0x[0-9a-f][0-9a-f],0x[0-9a-f][0-9a-f],0x[0-9a-f][0-9a-f],0x[0-9a-f][0-9a-f],0x[0-9a-f][0-9a-f],0x[0-9a-f][0-9a-f],0x[0-9a-f][0-9a-f],)" "\\1\n" bytes "${bytes}")
file(WRITE ${SOURCE} "#include \"tools/report_html/page.h\"

namespace utlz {
namespace {

constexpr unsigned char kPage[${size}] = {
${bytes}
};

}  // namespace

std::string_view PageTemplate() { return {reinterpret_cast<const char*>(kPage), sizeof(kPage)}; }

}  // namespace utlz
")
