package venue

import (
	"crypto/sha256"
	"net/http"
	"strconv"
	"time"
)

// Answer is a JSON response of a venue, with its creation time and its digest.
type Answer struct {
	Body []byte
	// At is the time at which the venue created the response, by the clock of the venue. It is the header Date minus the
	// header Age (RFC 9111 section 5.1), but not later than the receipt. It is zero if Date is missing or if one of the
	// headers is invalid.
	At     time.Time
	SHA256 []byte // SHA-256 of Body
}

func newAnswer(body []byte, header http.Header, received time.Time) Answer {
	sum := sha256.Sum256(body)
	return Answer{Body: body, At: answerTime(header, received), SHA256: sum[:]}
}

func answerTime(header http.Header, received time.Time) time.Time {
	at, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	if text := header.Get("Age"); text != "" {
		seconds, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return time.Time{}
		}
		at = at.Add(-time.Duration(seconds) * time.Second)
	}
	if at.After(received) {
		return received
	}
	return at
}
