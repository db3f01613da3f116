package telemetry

import (
	"bytes"
	"strings"
	"sync"
)

// hidden stands where a secret was.
const hidden = "[hidden]"

// secretNames are parts of attribute names whose values are hidden.
var secretNames = []string{
	"secret", "token", "password", "passwd", "authorization", "cookie", "bearer", "jwt", "api_key", "apikey",
	"dsn", "database_url", "redis_url", "db_sig", "db_uid", "private_key", "code_verifier",
}

// publicNames contain such a part and are no secrets: a market's token id is
// public at its venue.
var publicNames = []string{"token_id", "tokenid", "token_count", "tokens_per"}

// judged has the result of secretName by name. Names are constants of the program, so it stays small.
var judged sync.Map // string → bool

func isSecret(name string) bool {
	known, ok := judged.Load(name)
	if !ok {
		known, _ = judged.LoadOrStore(name, secretName(name))
	}
	return known.(bool)
}

// secretName reports an attribute whose value may not be seen.
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

// mark is the beginning of something secret inside of text.
type mark struct {
	text  string
	word  bool // the mark belongs to the credential and begins a word
	least int  // shorter values are no credentials
}

// marks are what our credentials look like, and the names behind which
// foreign ones stand in queries and messages.
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

// Redact hides what looks like a credential inside of text.
func Redact(s string) string { return string(redact([]byte(s))) }

// redact returns line itself when there is nothing to hide.
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

// holds reports whether a byte still belongs to the value: of a credential its
// own alphabet, of a named value everything up to a separator.
func (m mark) holds(c byte) bool {
	if m.word {
		return isTokenByte(c)
	}
	return c > ' ' && !bytes.ContainsRune([]byte("&\"\\,;)}"), rune(c))
}

// hideUserinfo hides the password of URLs, scheme://user:password@host.
func hideUserinfo(line []byte) []byte {
	from := 0
	for {
		i := bytes.Index(line[from:], []byte("://"))
		if i < 0 {
			return line
		}
		start := from + i + 3
		end := start
		for end < len(line) && line[end] > ' ' && !bytes.ContainsRune([]byte("/\"\\?#"), rune(line[end])) {
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

// isTokenByte is what keys and tokens are made of.
func isTokenByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' || c == '.'
}
