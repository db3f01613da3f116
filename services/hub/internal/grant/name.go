package grant

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/signalcast/signalcast/pkg/protocol"
)

// productName is the name of the product, folded with foldName.
var productName = foldName("signalcast")

// goodName reports whether an app may have this name on the consent page. The name must be valid for protocol.IsName, and must
// not start or end with a space. It must not contain the product's name, not even with lookalike characters.
func goodName(name string) bool {
	if !protocol.IsName(name, 1, maxAppName) || strings.TrimSpace(name) != name {
		return false
	}
	return !strings.Contains(foldName(name), productName)
}

// lookalikes maps characters to the Latin letter that they resemble.
var lookalikes = map[rune]rune{
	'0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '9': 'g', '6': 'g', '@': 'a', '$': 's', '|': 'i', '!': 'i', 'l': 'i', 'ı': 'i', 'ł': 'i', 'ɩ': 'i',
	'а': 'a', 'с': 'c', 'ѕ': 's', 'і': 'i', 'ј': 'j', 'ӏ': 'i', 'т': 't', 'ԍ': 'g', 'п': 'n', 'ո': 'n', 'ց': 'g', 'տ': 's', 'ӕ': 'a', // Cyrillic, Armenian
	'α': 'a', 'ι': 'i', 'η': 'n', 'τ': 't', 'ϲ': 'c', 'ς': 's', 'σ': 's', // Greek
	'ɑ': 'a', 'ɡ': 'g', 'ᴀ': 'a', 'ᴄ': 'c', 'ɢ': 'g', 'ɪ': 'i', 'ɴ': 'n', 'ꜱ': 's', 'ʟ': 'i', 'ᴛ': 't', // Latin variants
}

// foldName reduces a name to its visual form, so that names that look alike become equal. It converts to lower case, removes
// marks, spaces and punctuation, and replaces lookalikes.
func foldName(name string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(norm.NFKD.String(name)) {
		if like, ok := lookalikes[r]; ok {
			r = like
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			out.WriteRune(r)
		}
	}
	return out.String()
}
