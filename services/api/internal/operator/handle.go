package operator

import (
	"crypto/rand"
	"encoding/base32"
	"strconv"
	"strings"
)

// reserved contains texts that may not be handles: path segments that routes have in place of {handle}, and names that look
// like parts of the service.
var reserved = map[string]bool{
	"me": true, "leaderboard": true, "hub": true, "admin": true, "system": true, "live": true, "register": true,
	"profile": true, "stream": true, "signal": true, "signals": true, "receipts": true, "recap": true,
	"heartbeat": true, "analytics": true, "embed": true, "api": true, "clock": true, "markets": true, "dev": true,
	"operator": true, "operators": true, "market": true, "tape": true, "tapes": true, "station": true, "stations": true,
	"signalcast": true, "null": true, "undefined": true,
}

// Reserved reports whether a text may not be the handle of an operator. The hub stores media of deleted accounts under handles that
// begin with "deleted_".
func Reserved(handle string) bool { return reserved[handle] || strings.HasPrefix(handle, "deleted_") }

// slug converts a name to a handle of at most maxHandle characters. It converts letters to lower case and keeps a-z and
// digits. It removes other characters at the start and the end, and replaces each other sequence of them with one underscore.
// If fewer than two characters remain, it returns "".
func slug(claim string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(claim) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
		if b.Len() == maxHandle {
			break
		}
	}
	s := strings.Trim(b.String(), "_")
	if len(s) < 2 {
		return ""
	}
	return s
}

const maxHandle = 32

// candidates returns the handle for the attempt number try, which is 0 for the first attempt. It is the slug of the verified
// username or name. In later attempts, and if the slug is reserved, it is the slug with a number. Without a slug, and in
// attempts after number 20, it is random.
func candidates(id Identity, try int) string {
	base := slug(id.Username)
	if base == "" {
		base = slug(id.Name)
	}
	if base == "" || try > 20 {
		return randomHandle()
	}
	if try == 0 && !Reserved(base) {
		return base
	}
	suffix := "_" + strconv.Itoa(try+1)
	return base[:min(len(base), maxHandle-len(suffix))] + suffix
}

// randomHandle returns "op" and eight random characters of base32, in lower case.
func randomHandle() string {
	var b [5]byte
	_, _ = rand.Read(b[:]) // never fails
	return "op" + strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}
