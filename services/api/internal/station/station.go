package station

import (
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Bounds of what an operator may have.
const (
	MaxOwned       = 10
	MaxIDs         = 30 // ever, with those of stations that were ended
	MaxURL         = 500
	MaxName        = 64
	MaxDescription = 280
	HeartbeatEvery = 60 * time.Second
)

// Hub is the origin of the service itself; no station has it.
const Hub = "hub"

// Expected failures.
var (
	ErrNotFound    = apperr.New(apperr.NotFound, "not_found", "no such station")
	ErrExists      = apperr.New(apperr.Conflict, "station_exists", "the id is taken")
	ErrOrigin      = apperr.New(apperr.Conflict, "station_exists", "another active station has this address").With("field", "url")
	ErrOurs        = apperr.New(apperr.Conflict, "station_exists", "this address is the hub's own").With("field", "url")
	ErrLimit       = apperr.New(apperr.Conflict, "limit_reached", "an operator has at most ten stations").With("limit", MaxOwned)
	ErrIDs         = apperr.New(apperr.Conflict, "limit_reached", "an operator takes at most thirty ids, those of ended stations counted").With("limit", MaxIDs)
	ErrOwner       = apperr.New(apperr.Forbidden, "forbidden", "the station is somebody else's")
	ErrNotApproved = apperr.New(apperr.Forbidden, "not_approved", "an admin has to approve the station first")
	ErrStatus      = invalid("status", "status is active or paused")
)

func invalid(field, text string) *apperr.Fault {
	return apperr.New(apperr.Invalid, "invalid_"+protocol.Snake(field), text).With("field", field)
}

// Status is what becomes of a station's rows: those of active ones are shown.
type Status string

// The statuses.
const (
	Pending   Status = "pending" // nobody has looked at it yet
	Active    Status = "active"
	Paused    Status = "paused"    // by its owner
	Suspended Status = "suspended" // by an admin
)

// Statuses lists them all.
var Statuses = [...]Status{Pending, Active, Paused, Suspended}

// Station is one registered station.
type Station struct {
	ID           string
	OwnerID      string
	OwnerHandle  string
	Name         string
	URL          string
	OriginURL    string // scheme, host and port of URL
	Description  string
	Lanes        []protocol.Lane     // none: all
	Providers    []protocol.Provider // none: all
	TapesURL     string              // empty: none
	OperatorsURL string              // empty: none
	Status       Status
	LastSeenAt   time.Time
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Draft is what is said of a station; nil members stay as they are.
type Draft struct {
	ID           string
	Name         *string
	URL          *string
	Description  *string
	Lanes        []protocol.Lane
	Providers    []protocol.Provider
	TapesURL     *string // empty: none
	OperatorsURL *string // empty: none
	Status       *Status // active or paused, by the owner of an approved one
}

// IsID tells whether a text may be the id of a station.
func IsID(s string) bool {
	return len(s) >= 3 && len(s) <= 32 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// apply gives the station as the draft has it. Whoever moves an approved station to
// other addresses waits for an admin again. Faults: invalid_* and not_approved.
func (s Station) apply(d Draft, allowed func(url string) bool) (Station, error) {
	before := s
	set(&s.Name, d.Name)
	set(&s.URL, d.URL)
	set(&s.Description, d.Description)
	set(&s.TapesURL, d.TapesURL)
	set(&s.OperatorsURL, d.OperatorsURL)
	if d.Lanes != nil {
		s.Lanes = d.Lanes
	}
	if d.Providers != nil {
		s.Providers = d.Providers
	}
	if err := s.check(allowed); err != nil {
		return Station{}, err
	}
	s.OriginURL = Origin(s.URL)
	if d.Status != nil {
		switch {
		case *d.Status != Active && *d.Status != Paused:
			return Station{}, ErrStatus
		case s.Status != Active && s.Status != Paused:
			return Station{}, ErrNotApproved
		}
		s.Status = *d.Status
	}
	moved := s.OriginURL != before.OriginURL || s.TapesURL != before.TapesURL || s.OperatorsURL != before.OperatorsURL
	if moved && (s.Status == Active || s.Status == Paused) {
		s.Status = Pending
	}
	return s, nil
}

func set(to, from *string) {
	if from != nil {
		*to = *from
	}
}

func (s *Station) check(allowed func(url string) bool) error {
	switch {
	case !IsID(s.ID):
		return invalid("stationId", "stationId has 3 to 32 of a-z, 0-9 and -")
	case !protocol.IsName(s.Name, 1, MaxName):
		return invalid("name", "name has 1 to 64 characters on one line")
	case !allowed(s.URL):
		return invalid("url", "url must be an https address of a public host")
	case utf8.RuneCountInString(s.Description) > MaxDescription || !protocol.IsText(s.Description, true):
		return invalid("description", "description has at most 280 characters, and no control characters but line feeds")
	case s.TapesURL != "" && !allowed(s.TapesURL):
		return invalid("tapesUrl", "tapesUrl must be an https address of a public host")
	case s.OperatorsURL != "" && !allowed(s.OperatorsURL):
		return invalid("operatorsUrl", "operatorsUrl must be an https address of a public host")
	case len(s.Lanes) > len(protocol.Lanes) || twice(s.Lanes) || slices.ContainsFunc(s.Lanes, func(l protocol.Lane) bool { _, ok := protocol.ParseLane(string(l)); return !ok }):
		return invalid("lanes", "lanes are lanes, each once")
	case len(s.Providers) > len(protocol.Providers) || twice(s.Providers) || slices.ContainsFunc(s.Providers, func(p protocol.Provider) bool { _, ok := protocol.ParseProvider(string(p)); return !ok }):
		return invalid("providers", "providers are providers, each once")
	}
	return nil
}

func twice[T comparable](list []T) bool {
	for i, v := range list {
		if slices.Contains(list[:i], v) {
			return true
		}
	}
	return false
}

// Origin is the scheme, the host and the port of an address as a browser names them:
// in small letters, without a default port and without a dot at the end.
func Origin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if p := u.Port(); p != "" && (u.Scheme != "https" || p != "443") && (u.Scheme != "http" || p != "80") {
		host += ":" + p
	}
	return u.Scheme + "://" + host
}
