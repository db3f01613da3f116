package federation

import (
	"errors"
	"math"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/stream"
)

// Limits of the values of an entry in a partner's list. Lengths are in characters and durations in seconds.
const (
	maxID       = 128
	maxAddress  = 500
	maxName     = 64
	maxCount    = 1_000_000_000
	maxDuration = 86_400
	skew        = time.Minute // maximum time by which the clock of a partner may be ahead
	maxScore    = 100         // maximum absolute score of one call
)

// errRow is the error of an invalid entry.
var errRow = errors.New("invalid entry")

// quotable lists characters that URLs of partners must not contain. Some of them could end an HTML attribute if a page failed to
// quote it.
const quotable = "\"'<>\\^`{|}"

// Rules validates entries of partner stations.
type Rules struct {
	Now    time.Time
	Videos []string // permitted hosts of playlists; empty: any host
	Plain  bool     // permits http URLs of partners, in development
}

// ValidateTape validates a tape from a partner's list and returns it with the registered id and origin of the partner. It returns
// an error if a member is invalid or a link has another origin than the partner.
func (r Rules) ValidateTape(p Partner, t Tape) (Tape, error) {
	handle, err := protocol.ParseHandle(t.Handle)
	switch {
	case err != nil || !isID(t.ID) || !r.own(p, t.OriginURL, t.Href):
		return Tape{}, errRow
	case !stream.Playable(t.URL, r.Videos) || strings.ContainsAny(t.URL, quotable):
		return Tape{}, errRow
	case t.Views < 0 || t.Views > maxCount || t.DurationS != nil && (*t.DurationS < 0 || *t.DurationS > maxDuration):
		return Tape{}, errRow
	case t.Stance != nil && *t.Stance != string(protocol.Yes) && *t.Stance != string(protocol.No):
		return Tape{}, errRow
	case t.CreatedAt.Year() < 2000 || t.CreatedAt.After(r.Now.Add(skew)):
		return Tape{}, errRow
	}
	if _, err := protocol.ParseMarketID(t.MarketID); err != nil && t.MarketID != "" {
		return Tape{}, errRow
	}
	t.Handle = handle.String()
	t.Origin, t.OriginURL = p.Origin, p.OriginURL
	return t, nil
}

// ValidateOperator validates an operator from a partner's list and returns it with the registered id and origin of the partner.
// It returns an error if a member is invalid, a link has another origin than the partner, or the operator is not human.
func (r Rules) ValidateOperator(p Partner, o Operator) (Operator, error) {
	handle, err := protocol.ParseHandle(o.Handle)
	counts := [...]int64{o.Total, o.Won, o.Lost, o.Pending, o.Followers, o.Resolved}
	switch {
	case err != nil || !r.own(p, o.OriginURL, o.Href) || !o.human():
		return Operator{}, errRow
	case !protocol.IsName(o.DisplayName, 1, maxName):
		return Operator{}, errRow
	case o.AvatarURL != nil && !r.address(*o.AvatarURL):
		return Operator{}, errRow
	case o.Accuracy < 0 || o.Accuracy > 100 || o.AvgClv != nil && (*o.AvgClv < -10_000 || *o.AvgClv > 10_000):
		return Operator{}, errRow
	}
	for _, n := range counts {
		if n < 0 || n > maxCount {
			return Operator{}, errRow
		}
	}
	decided := o.Won + o.Lost
	if decided+o.Pending > o.Total || o.Resolved != decided || max(o.Score, -o.Score) > maxScore*decided || max(o.Streak, -o.Streak) > decided || o.Score == math.MinInt64 {
		return Operator{}, errRow
	}
	o.Handle, o.ID, o.AlsoOn = handle.String(), "", nil
	o.Origin, o.OriginURL = p.Origin, p.OriginURL
	return o, nil
}

// own reports whether both URLs of an entry have the registered origin of the partner.
func (r Rules) own(p Partner, originURL, href string) bool {
	return OriginOf(originURL) == p.OriginURL && r.address(href) && OriginOf(href) == p.OriginURL
}

// address reports whether a URL is safe to link to: http or https, without a user name and without characters that need
// quoting (see quotable), and at most maxAddress ASCII characters. http is permitted only if r.Plain is set.
func (r Rules) address(raw string) bool {
	if len(raw) > maxAddress || strings.ContainsAny(raw, quotable) || strings.ContainsFunc(raw, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return false
	}
	return OriginOf(raw) != "" && (strings.HasPrefix(raw, "https://") || r.Plain && strings.HasPrefix(raw, "http://"))
}

func isID(s string) bool {
	if s == "" || len(s) > maxID {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:") == ""
}
