package format

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/signalcast/signalcast/pkg/protocol"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
)

// When formats a time in UTC: 2 Jan 2006, 15:04 UTC.
func When(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") }

// recent is the age up to which Ago returns an age instead of a date.
const recent = 30 * 24 * time.Hour

// Ago formats the age of a time: just now, 14 min ago, 3 h ago, 5 d ago. It returns the date of a time in the future, or of one that
// is older than 30 days.
func Ago(t, now time.Time) string {
	switch d := now.Sub(t); {
	case d < 0 || d >= recent:
		return t.UTC().Format("2 Jan 2006")
	case d >= 24*time.Hour:
		return Digits(int64(d/(24*time.Hour))) + " d ago"
	case d >= time.Hour:
		return Digits(int64(d/time.Hour)) + " h ago"
	case d >= time.Minute:
		return Digits(int64(d/time.Minute)) + " min ago"
	}
	return "just now"
}

// SideClass returns the CSS class of a side: side-yes or side-no.
func SideClass(side string) string { return "side-" + strings.ToLower(side) }

// StatusLabel returns the label of a call status. A status other than won, lost and void has the label Open.
func StatusLabel(status string) string {
	switch protocol.SignalStatus(status) {
	case protocol.Won:
		return "Won"
	case protocol.Lost:
		return "Lost"
	case protocol.Void:
		return "Void"
	}
	return "Open"
}

// TimeLeft formats the time from now until end, in days, hours or minutes. It returns "" after the end.
func TimeLeft(end, now time.Time) string {
	switch d := end.Sub(now); {
	case d >= 48*time.Hour:
		return CountOf(int64(d/(24*time.Hour)), "day") + " left"
	case d >= time.Hour:
		return CountOf(int64(d/time.Hour), "hour") + " left"
	case d > 0:
		return CountOf(int64((d+time.Minute-1)/time.Minute), "minute") + " left"
	}
	return ""
}

// NameOf returns name, or the handle with a leading @ if name is empty.
func NameOf(name, handle string) string { return cmp.Or(name, "@"+handle) }

// CallerName returns the handle of the operator of a call, or the operator's public id if there is no handle.
func CallerName(call *signalv1.Signal) string {
	if call.GetHandle() == "" {
		return call.GetPublicId()
	}
	return "@" + call.GetHandle()
}

// TitleCase converts an upper-case word: SCIENCE becomes Science. TV stays as it is.
func TitleCase[T ~string](word T) string {
	if word == "" || strings.EqualFold(string(word), "tv") {
		return strings.ToUpper(string(word))
	}
	return string(word[:1]) + strings.ToLower(string(word[1:]))
}

var venueNames = map[protocol.Provider]string{
	protocol.Polymarket: "Polymarket", protocol.Kalshi: "Kalshi", protocol.Limitless: "Limitless", protocol.Manifold: "Manifold",
	protocol.Manual: "Signalcast",
}

// VenueName returns the display name of a venue, or provider itself if the venue is unknown.
func VenueName(provider string) string {
	if w, ok := venueNames[protocol.Provider(provider)]; ok {
		return w
	}
	return provider
}

// Link returns raw if it is an http or https URL with a host, and "" for any other text.
func Link(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	return raw
}

// Bar is one line of the barcode on a receipt, with its left position and its width.
type Bar struct{ X, W int }

// Bars returns the lines of the barcode of an id, and the total width of the barcode. Each hex digit of the id is a line and a
// gap.
func Bars(id string) (list []Bar, width int) {
	for _, r := range id {
		n, err := strconv.ParseInt(string(r), 16, 8)
		if err != nil {
			continue
		}
		w := 1 + int(n)%4
		list = append(list, Bar{X: width, W: w})
		width += w + 1 + int(n)/4
	}
	return list, width
}

// Initials returns up to two initials of a name. Pages show them where an operator has no picture.
func Initials(name string) string {
	letters := ""
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		for _, r := range word {
			letters += string(unicode.ToUpper(r))
			break
		}
		if len([]rune(letters)) == 2 {
			break
		}
	}
	return letters
}
