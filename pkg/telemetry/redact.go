package telemetry

import (
	"bytes"
	"strings"
	"sync"
)

// hidden is the text that replaces secrets in logs.
const hidden = "[hidden]"

// secretNames contains parts of attribute names. The value of an attribute is hidden if its name contains one of them.
var secretNames = []string{
	"secret", "token", "password", "passwd", "authorization", "cookie", "bearer", "jwt", "api_key", "apikey",
	"dsn", "database_url", "redis_url", "db_sig", "db_uid", "private_key", "code_verifier",
}

// publicNames contains exceptions from secretNames: an attribute whose name contains one of them is not hidden. The
// token id of a market, for example, is public at its venue.
var publicNames = []string{"token_id", "tokenid", "token_count", "tokens_per"}

// secretNameCache contains the results of secretName. Attribute names are constants of the program, so the cache
// stays small.
var secretNameCache sync.Map // string → bool

func isSecret(name string) bool {
	known, ok := secretNameCache.Load(name)
	if !ok {
		known, _ = secretNameCache.LoadOrStore(name, secretName(name))
	}
	return known.(bool)
}

// secretName reports whether the value of an attribute with this name must be hidden.
func secretName(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
	for _, s := range publicNames {
		if strings.Contains(name, s) {
			return false
		}
	}
	for _, s := range secretNames {
		if strings.Contains(name, s) {
			return true
		}
	}
	return false
}

// mark is a text that begins or precedes a credential.
type mark struct {
	text  string
	word  bool // the mark is a part of the credential and starts a word
	least int  // minimum length of a credential; shorter values are not hidden
}

// marks contains the prefixes of credentials of this service, and the names that precede other credentials in queries
// and messages.
var marks = []mark{
	{"dk_", true, 8},
	{"db_live_", true, 8},
	{"dat_", true, 8},
	{"drt_", true, 8},
	{"dac_", true, 8},
	{"das_", true, 8},
	{"dar_", true, 8},
	{"dch_", true, 8},
	{"whsec_", true, 8},
	{"eyJ", true, 8},
	{"secret=", false, 1},
	{"token=", false, 1},
	{"password=", false, 1},
	{"db_sig=", false, 1},
	{"db_uid=", false, 1},
	{"code_verifier=", false, 1},
	{"earer ", false, 8}, // Bearer and bearer
}

// Redact returns s with credentials replaced by [hidden].
func Redact(s string) string { return string(redact([]byte(s))) }

// redact returns line with credentials replaced. If there are none, it returns line itself.
func redact(line []byte) []byte {
	for _, m := range marks {
		line = hideMark(line, m)
	}
	return hideUserinfo(line)
}

func hideMark(line []byte, m mark) []byte {
	from := 0
	for {
		i := bytes.Index(line[from:], []byte(m.text))
		if i < 0 {
			return line
		}
		start := from + i
		value := start + len(m.text)
		end := value
		for end < len(line) && m.holds(line[end]) {
			end++
		}
		from = value
		if end-value >= m.least && (!m.word || start == 0 || !isTokenByte(line[start-1])) {
			line = splice(line, value, end)
			from = value + len(hidden)
		}
	}
}

// holds reports whether c belongs to the credential after the mark. A credential of this service ends at the first byte
// outside of its alphabet. A value after a name, such as "token=", ends at a separator.
func (m mark) holds(c byte) bool {
	if m.word {
		return isTokenByte(c)
	}
	return c > ' ' && !strings.ContainsRune("&\"\\,;)}", rune(c))
}

// hideUserinfo hides the password in URLs of the form scheme://user:password@host.
func hideUserinfo(line []byte) []byte {
	from := 0
	for {
		i := bytes.Index(line[from:], []byte("://"))
		if i < 0 {
			return line
		}
		start := from + i + 3
		end := start
		for end < len(line) && line[end] > ' ' && !strings.ContainsRune("/\"\\?#", rune(line[end])) {
			end++
		}
		from = end
		at := bytes.LastIndexByte(line[start:end], '@')
		colon := bytes.IndexByte(line[start:end], ':')
		if colon >= 0 && colon+1 < at {
			line = splice(line, start+colon+1, start+at)
			from = start + colon + 1 + len(hidden)
		}
	}
}

func splice(line []byte, from, to int) []byte {
	out := make([]byte, 0, len(line)+len(hidden))
	out = append(out, line[:from]...)
	out = append(out, hidden...)
	return append(out, line[to:]...)
}

// isTokenByte reports whether c can occur in keys and tokens.
func isTokenByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' || c == '.'
}
