package syntax

// Snake writes a camelCase member as error codes spell it:
// priceAtPrediction is price_at_prediction, hlsURL is hls_url.
func Snake(member string) string {
	b := make([]byte, 0, len(member)+4)
	for i := range len(member) {
		c := member[i]
		switch {
		case isUpper(c):
			afterWord := i > 0 && !isUpper(member[i-1]) && isAlnum(member[i-1])
			newWord := i > 0 && isUpper(member[i-1]) && i+1 < len(member) && isLower(member[i+1])
			if afterWord || newWord {
				b = append(b, '_')
			}
			b = append(b, c+'a'-'A')
		case isAlnum(c):
			b = append(b, c)
		default:
			b = append(b, '_')
		}
	}
	return string(b)
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
