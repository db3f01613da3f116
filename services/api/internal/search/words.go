package search

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// maxQuery is how many bytes of a query are read, maxTokens how many words.
	maxQuery  = 400
	maxTokens = 12
	// minInside is the length of a token, in bytes, that is looked for inside of
	// words too: a script without spaces has three bytes a letter.
	minInside = 3
	// minTypo is the number of letters of a token that may have a typo.
	minTypo = 4
)

// apart are letters that decomposition leaves as they are.
var apart = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i", "ħ", "h")

// fold takes case and accents away.
func fold(s string) string {
	plain := true
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			plain = false
			break
		}
	}
	if plain {
		return strings.ToLower(s)
	}
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(s))
	return apart.Replace(s)
}

// tokens are the words of a text, folded, each once, in their order. An
// apostrophe parts nothing, nor does a comma between digits.
func tokens(text string) []string {
	s := fold(strings.ToValidUTF8(text, " "))
	var out []string
	var word []byte
	end := func() {
		if len(word) == 0 {
			return
		}
		w := string(word)
		word = word[:0]
		for _, known := range out {
			if known == w {
				return
			}
		}
		out = append(out, w)
	}
	var last rune
	for i, r := range s {
		switch {
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			word = utf8.AppendRune(word, r)
		case r == '\'' || r == '’':
		case r == ',' && isDigit(last) && i+1 < len(s) && isDigit(rune(s[i+1])):
		default:
			end()
		}
		last = r
	}
	end()
	return out
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// queryTokens are the words of a query that are looked for.
func queryTokens(q string) []string {
	cut := len(q) > maxQuery
	if cut {
		q = strings.ToValidUTF8(q[:maxQuery], "")
	}
	list := tokens(q)
	if cut && len(list) > 1 {
		if at := strings.LastIndexAny(q, " -+_/"); at >= 0 { // the last word is no whole one
			list = tokens(q[:at])
		}
	}
	return list[:min(len(list), maxTokens)]
}

// mask has a bit for each letter of a word, so that most words are told apart
// without reading them.
func mask(word string) (m uint64) {
	for _, r := range word {
		m |= 1 << (uint32(r) % 64)
	}
	return m
}

// class says how well a word fits a token, the best first.
type class uint8

const (
	exact class = iota + 1
	prefix
	inside
	typo
)

// token is one word of a query, ready to be compared.
type token struct {
	text  string
	mask  uint64
	runes []rune // only where a typo is allowed
}

// newToken allows a typo only in words of letters: one digit off is another
// year, not a slip.
func newToken(text string, tolerant bool) token {
	t := token{text: text, mask: mask(text)}
	if tolerant && utf8.RuneCountInString(text) >= minTypo && strings.IndexFunc(text, unicode.IsNumber) < 0 {
		t.runes = []rune(text)
	}
	return t
}

// fit compares a word with a token; 0 is no fit.
func (t *token) fit(w *word) class {
	if t.mask&^w.mask == 0 && len(w.text) >= len(t.text) {
		switch i := strings.Index(w.text, t.text); {
		case i == 0 && len(w.text) == len(t.text):
			return exact
		case i == 0:
			return prefix
		case i > 0 && len(t.text) >= minInside:
			return inside
		}
	}
	if t.runes == nil || bits.OnesCount64(t.mask^w.mask) > 2 || w.length+1 < len(t.runes) || w.length > len(t.runes)+1 {
		return 0
	}
	if oneEdit(t.runes, []rune(w.text)) {
		return typo
	}
	return 0
}

// oneEdit reports that one letter put in, left out or changed, or two
// neighbours exchanged, makes one word of the other.
func oneEdit(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return len(b) == len(a)+1 && same(a[i:], b[i+1:])
	}
	if i == len(a) || same(a[i+1:], b[i+1:]) {
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && same(a[i+2:], b[i+2:])
}

func same(a, b []rune) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
