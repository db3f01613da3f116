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

// Search is one search.
type Search struct {
	Bytes   int // looked through
	secrets map[string][]byte
	hits    map[string]bool
	used    map[exception]bool
	lines   map[uint64]bool // of each file, those that were looked at
	seed    maphash.Seed
}

// New is a search that has found nothing. It knows the secrets by what they are.
func New(secrets map[string]string) *Search {
	s := &Search{secrets: map[string][]byte{}, hits: map[string]bool{}, used: map[exception]bool{}, lines: map[uint64]bool{}, seed: maphash.MakeSeed()}
	for name, text := range secrets {
		s.secrets[name] = []byte(text)
	}
	return s
}

// Hits are what was found; the values themselves are not shown.
func (s *Search) Hits() []string { return slices.Sorted(maps.Keys(s.hits)) }

// Exceptions is how many values look like secrets and are none; idle are those of them
// that were not met.
func (s *Search) Exceptions() (n int, idle []string) {
	all := slices.Concat(known, whole)
	for _, k := range all {
		if !s.used[k] {
			idle = append(idle, k.file+" has no value "+k.sum)
		}
	}
	return len(all), idle
}

// formed is a beginning that secrets of one kind have, and the whole of one.
type formed struct {
	mark  string
	whole *regexp.Regexp
}

// forms are those of our own credentials and of those that other places hand out.
var forms = []formed{
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

// apart are forms that are longer than a line.
var apart = []formed{{"-----BEGIN ", regexp.MustCompile(`^-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/]{16}`)}}

// named matches values that stand behind the name of a secret.
var named = regexp.MustCompile(`(?i)(?:secret|token|passw(?:or)?d|passwd|api_?key|private|credential|seed|pepper)[a-z0-9_]{0,20}["']?\s{0,3}(?::=|=|:|,)\s{0,3}["'` + "`]?" + `([A-Za-z0-9+/_=-]{20,})`)

// Text looks through a file that people write. Lines that the file had in another
// version were looked at then.
func (s *Search) Text(where string, raw []byte) {
	if s.foreign(where, raw) {
		s.Program(where, raw)
		return
	}
	s.Bytes += len(raw)
	for _, f := range apart {
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
			s.hit(where, "something behind the name of a secret", m[1])
		}
	}
	if sums(where) {
		return
	}
	for i := 0; i < len(line); {
		end := i
		for end < len(line) && codeByte[line[end]] {
			end++
		}
		if word := line[i:end]; len(word) >= 32 && random(word) {
			s.hit(where, "something random", word)
		}
		i = end + 1
	}
}

// Program looks for the secrets, and for what has the form of one.
func (s *Search) Program(where string, raw []byte) {
	s.Bytes += len(raw)
	for _, f := range apart {
		s.form(where, raw, f)
	}
	s.plain(where, raw)
}

func (s *Search) plain(where string, raw []byte) {
	for name, text := range s.secrets {
		if bytes.Contains(raw, text) {
			s.hits[fmt.Sprintf("%s holds %s", where, name)] = true
		}
	}
	for _, f := range forms {
		s.form(where, raw, f)
	}
}

func (s *Search) form(where string, raw []byte, f formed) {
	for at := 0; ; at += len(f.mark) {
		i := bytes.Index(raw[at:], []byte(f.mark))
		if i < 0 {
			return
		}
		at += i
		if whole := f.whole.Find(raw[at:]); whole != nil && (at == 0 || !codeByte[raw[at-1]]) && entropy(whole) > 3 {
			s.hit(where, "the form of a secret", whole)
		}
	}
}

// hit notes a value, if it is none of those that everybody may know.
func (s *Search) hit(where, what string, value []byte) {
	raw := sha256.Sum256(value)
	sum := hex.EncodeToString(raw[:8])
	if i := slices.IndexFunc(known, func(k exception) bool { return k.file == where && k.sum == sum }); i >= 0 {
		s.used[known[i]] = true
		return
	}
	s.hits[fmt.Sprintf("%s has %s, %d characters that sum to %s", where, what, len(value), sum)] = true
}

// foreign tells whether a file is one of a library that is kept here as it was published.
func (s *Search) foreign(where string, raw []byte) bool {
	i := slices.IndexFunc(whole, func(k exception) bool { return k.file == where })
	if i < 0 {
		return false
	}
	sum := sha256.Sum256(raw)
	same := hex.EncodeToString(sum[:8]) == whole[i].sum
	s.used[whole[i]] = s.used[whole[i]] || same
	return same
}

// sums tells whether a file holds check sums of public packages by its nature.
func sums(where string) bool {
	return strings.HasSuffix(where, ".sum") || strings.HasSuffix(where, "package-lock.json")
}

// codeByte is what keys, tokens and their codings are made of.
var codeByte = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-=") {
		set[c] = true
	}
	return set
}()

// mixed tells whether a text has digits and letters both, and is no list of an alphabet.
func mixed(text []byte) bool {
	digit := bytes.ContainsAny(text, "0123456789")
	letter := bytes.ContainsFunc(text, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
	return digit && letter && !alphabet(text)
}

// random tells whether a text looks as if it came from a random source: large and small
// letters and several digits, hardly any of them twice.
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

// alphabet tells whether eight characters follow each other as in a list of them.
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

// entropy is how many bits a character of the text tells.
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
