package message

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/signalcast/signalcast/pkg/syntax"
)

// The words of payloads. Each has a definition in schemas that says the same.

const maxLink = 500

// line is a text of low to high characters on one line, with a visible one.
func line(low, high int) func(string) bool {
	return func(s string) bool { return syntax.IsLine(s, low, high) }
}

// name is a line that can be a name or a label.
func name(low, high int) func(string) bool {
	return func(s string) bool { return syntax.IsName(s, low, high) }
}

// nameOrNone is the empty text or a name.
func nameOrNone(high int) func(string) bool {
	return func(s string) bool { return s == "" || syntax.IsName(s, 1, high) }
}

// prose is a text of at most high characters, which may have line ends.
func prose(high int) func(string) bool {
	return func(s string) bool {
		return utf8.RuneCountInString(s) <= high && syntax.IsText(syntax.PlainLines(s), true)
	}
}

// plain replaces each CR LF of a text that may be left out.
func plain(s *string) *string {
	if s != nil {
		*s = syntax.PlainLines(*s)
	}
	return s
}

func oneOf(words ...string) func(string) bool {
	return func(s string) bool { return slices.Contains(words, s) }
}

// link is an https address without user, of characters that need no quoting.
func link(s string) bool {
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok || len(s) > maxLink {
		return false
	}
	host, tail := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host, tail = rest[:i], rest[i:]
	}
	if name, port, found := strings.Cut(host, ":"); found {
		if host = name; len(port) < 1 || len(port) > 5 || strings.Trim(port, "0123456789") != "" {
			return false
		}
	}
	return isHost(host) && !strings.ContainsFunc(tail, unquotable)
}

func isHost(s string) bool {
	inner := func(c byte) bool { return c == '-' || c == '.' }
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !inner(c) {
			return false
		}
	}
	return s != "" && !inner(s[0]) && !inner(s[len(s)-1])
}

func unquotable(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"<>\\^`{|}", r) }

// playlist is a link whose path ends in .m3u8; it has no fragment.
func playlist(s string) bool {
	if !link(s) || strings.Contains(s, "#") {
		return false
	}
	address, _, _ := strings.Cut(strings.TrimPrefix(s, "https://"), "?")
	_, path, found := strings.Cut(address, "/")
	return found && strings.HasSuffix(path, ".m3u8")
}

func wallet(s string) bool {
	hex, ok := strings.CutPrefix(s, "0x")
	return ok && isHex(strings.ToLower(hex), 40)
}

func stationID(s string) bool {
	return len(s) >= 3 && len(s) <= 32 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func market(s string) bool {
	_, err := syntax.ParseMarketID(s)
	return err == nil
}

func native(s string) bool { return market(s) && syntax.MarketID(s).IsNative() }

func lane(s string) bool {
	_, ok := syntax.ParseLane(s)
	return ok
}

func provider(s string) bool {
	_, ok := syntax.ParseProvider(s)
	return ok
}

// stamps is the form of a time: RFC 3339 with a capital T and Z, of the years
// 1000 to 2999. The calendar is asked apart.
var stamps = regexp.MustCompile(`^[12][0-9]{3}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`)

func stamp(s string) bool {
	_, ok := syntax.ParseStamp(s)
	return ok && stamps.MatchString(s)
}
