package link

import "crypto/sha256"

// Knows is the comparison of a secret with one of which byte i is another, and what
// changes i.
func Knows(secret string) (differAt func(i int), knows func() bool) {
	want := sha256.Sum256([]byte(secret))
	g := &guard{}
	return func(i int) {
		g.secret = want
		g.secret[i]++
	}, func() bool { return g.knows(secret) }
}
