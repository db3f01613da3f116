package secretscan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Search searches files for secrets and stores its findings. It is not safe for concurrent use.
type Search struct {
	Bytes   int // number of bytes searched
	secrets map[string][]byte
	hits    map[string]bool
	used    map[exception]bool
	lines   map[uint64]bool // hashes of file name and line of all lines already searched
	seed    maphash.Seed
}

// New returns a Search without findings. secrets contains the secret values of the system by name. A finding contains the name
// and not the value.
func New(secrets map[string]string) *Search {
	s := &Search{secrets: map[string][]byte{}, hits: map[string]bool{}, used: map[exception]bool{}, lines: map[uint64]bool{}, seed: maphash.MakeSeed()}
	for name, text := range secrets {
		s.secrets[name] = []byte(text)
	}
	return s
}

// Hits returns the findings in sorted order. A finding describes where a secret is, and does not contain the secret.
func (s *Search) Hits() []string { return slices.Sorted(maps.Keys(s.hits)) }

// Exceptions returns the number of listed exceptions. idle contains a text for each exception for which the search found no
// matching value.
func (s *Search) Exceptions() (n int, idle []string) {
	all := slices.Concat(known, whole)
	for _, k := range all {
		if !s.used[k] {
			idle = append(idle, k.file+" has no value "+k.sum)
		}
	}
	return len(all), idle
}

// secretForm describes a format of secrets: its first characters, and a pattern for the whole value.
type secretForm struct {
	mark  string
	whole *regexp.Regexp
}

// forms lists the formats of the product's credentials and of the credentials of common services.
var forms = []secretForm{
	{"dk_", regexp.MustCompile(`^dk_[A-Za-z0-9_-]{32,}`)},
	{"db_live_", regexp.MustCompile(`^db_live_[A-Za-z0-9_-]{32,}`)},
	{"dat_", regexp.MustCompile(`^dat_[A-Za-z0-9_-]{32,}`)},
	{"drt_", regexp.MustCompile(`^drt_[A-Za-z0-9_-]{32,}`)},
	{"das_", regexp.MustCompile(`^das_[A-Za-z0-9_-]{32,}`)},
	{"whsec_", regexp.MustCompile(`^whsec_[A-Za-z0-9+/_-]{32,}`)},
	{"AKIA", regexp.MustCompile(`^AKIA[0-9A-Z]{16}\b`)},
	{"ASIA", regexp.MustCompile(`^ASIA[0-9A-Z]{16}\b`)},
	{"AIza", regexp.MustCompile(`^AIza[0-9A-Za-z_-]{35}`)},
	{"gh", regexp.MustCompile(`^gh[pousr]_[A-Za-z0-9]{36}`)},
	{"xox", regexp.MustCompile(`^xox[abprs]-[A-Za-z0-9-]{10,}`)},
	{"sk_live_", regexp.MustCompile(`^sk_live_[A-Za-z0-9]{16,}`)},
	{"eyJ", regexp.MustCompile(`^eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}`)},
}

// multiline lists the formats of secrets that extend over several lines.
var multiline = []secretForm{{"-----BEGIN ", regexp.MustCompile(`^-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/]{16}`)}}

// named matches long values that follow a name such as "secret" or "token" and an assignment.
var named = regexp.MustCompile(`(?i)(?:secret|token|passw(?:or)?d|passwd|api_?key|private|credential|seed|pepper)[a-z0-9_]{0,20}["']?\s{0,3}(?::=|=|:|,)\s{0,3}["'` + "`]?" + `([A-Za-z0-9+/_=-]{20,})`)

// Text searches a text. where is the path of its file, or a description of the text. It skips a line that it has already searched
// in a text with the same path.
func (s *Search) Text(where string, raw []byte) {
	if s.thirdParty(where, raw) {
		s.Program(where, raw)
		return
	}
	s.Bytes += len(raw)
	for _, f := range multiline {
		s.form(where, raw, f)
	}
	for line := range bytes.Lines(raw) {
		var h maphash.Hash
		h.SetSeed(s.seed)
		_, _ = h.WriteString(where)
		_ = h.WriteByte(0)
		_, _ = h.Write(line)
		if sum := h.Sum64(); !s.lines[sum] {
			s.lines[sum] = true
			s.line(where, line)
		}
	}
}

func (s *Search) line(where string, line []byte) {
	s.plain(where, line)
	for _, m := range named.FindAllSubmatch(line, -1) {
		if mixed(m[1]) && entropy(m[1]) >= 3.5 {
			s.hit(where, "a value after the name of a secret", m[1])
		}
	}
	if listsChecksums(where) {
		return
	}
	for i := 0; i < len(line); {
		end := i
		for end < len(line) && codeByte[line[end]] {
			end++
		}
		if word := line[i:end]; len(word) >= 32 && random(word) {
			s.hit(where, "a random-looking value", word)
		}
		i = end + 1
	}
}

// Program searches a binary file. It looks only for the secrets of the system and for values in the format of a credential.
func (s *Search) Program(where string, raw []byte) {
	s.Bytes += len(raw)
	for _, f := range multiline {
		s.form(where, raw, f)
	}
	s.plain(where, raw)
}

func (s *Search) plain(where string, raw []byte) {
	for name, text := range s.secrets {
		if bytes.Contains(raw, text) {
			s.hits[fmt.Sprintf("%s contains %s", where, name)] = true
		}
	}
	for _, f := range forms {
		s.form(where, raw, f)
	}
}

func (s *Search) form(where string, raw []byte, f secretForm) {
	for at := 0; ; at += len(f.mark) {
		i := bytes.Index(raw[at:], []byte(f.mark))
		if i < 0 {
			return
		}
		at += i
		if whole := f.whole.Find(raw[at:]); whole != nil && (at == 0 || !codeByte[raw[at-1]]) && entropy(whole) > 3 {
			s.hit(where, "a value in the form of a secret", whole)
		}
	}
}

// hit records a finding, unless the variable known lists the value for this file. where is the path of the file, and what
// describes the kind of secret.
func (s *Search) hit(where, what string, value []byte) {
	raw := sha256.Sum256(value)
	sum := hex.EncodeToString(raw[:8])
	if i := slices.IndexFunc(known, func(k exception) bool { return k.file == where && k.sum == sum }); i >= 0 {
		s.used[known[i]] = true
		return
	}
	s.hits[fmt.Sprintf("%s contains %s: %d characters, checksum %s", where, what, len(value), sum)] = true
}

// thirdParty reports whether raw is the content of an unchanged third-party file that the variable whole lists.
func (s *Search) thirdParty(where string, raw []byte) bool {
	i := slices.IndexFunc(whole, func(k exception) bool { return k.file == where })
	if i < 0 {
		return false
	}
	sum := sha256.Sum256(raw)
	same := hex.EncodeToString(sum[:8]) == whole[i].sum
	s.used[whole[i]] = s.used[whole[i]] || same
	return same
}

// listsChecksums reports whether a file lists checksums of public packages, which look random.
func listsChecksums(where string) bool {
	return strings.HasSuffix(where, ".sum") || strings.HasSuffix(where, "package-lock.json")
}

// codeByte is the set of the bytes that occur in keys, tokens and their encodings.
var codeByte = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-=") {
		set[c] = true
	}
	return set
}()

// mixed reports whether a text contains both digits and letters and does not contain part of an alphabet.
func mixed(text []byte) bool {
	digit := bytes.ContainsAny(text, "0123456789")
	letter := bytes.ContainsFunc(text, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
	return digit && letter && !alphabet(text)
}

// random reports whether a text looks random: it has at least four lower-case letters, four upper-case letters and four digits,
// and an entropy of at least 4.3 bits per character. A text with part of an alphabet does not look random.
func random(text []byte) bool {
	digits, small, large := 0, 0, 0
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z':
			small++
		case c >= 'A' && c <= 'Z':
			large++
		}
	}
	return digits >= 4 && small >= 4 && large >= 4 && !alphabet(text) && entropy(text) >= 4.3
}

// alphabet reports whether a text contains eight successive characters whose codes increase by one, such as "abcdefgh".
func alphabet(text []byte) bool {
	run := 1
	for i := 1; i < len(text); i++ {
		if text[i] != text[i-1]+1 {
			run = 0
		}
		if run++; run == 8 {
			return true
		}
	}
	return false
}

// entropy returns the Shannon entropy of the text in bits per character.
func entropy(text []byte) (bits float64) {
	var count [256]int
	for _, c := range text {
		count[c]++
	}
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
