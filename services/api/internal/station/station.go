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

// Limits of stations and of their members, and the interval of heartbeats.
const (
	MaxOwned       = 10  // stations per owner
	MaxIDs         = 30  // station ids per owner, including those of deleted stations
	MaxName        = 64  // characters
	MaxDescription = 280 // characters
	HeartbeatEvery = 60 * time.Second
)

// Hub identifies the hub as a source of data, where other sources are identified by their station ids. No station can have
// this id.
const Hub = "hub"

// Errors of station routes. Clients receive the codes and texts.
var (
	ErrNotFound = apperr.New(apperr.NotFound, "not_found", "no such station")
	ErrExists   = apperr.New(apperr.Conflict, "station_exists", "this station id is in use; choose another")
	ErrOrigin   = apperr.New(apperr.Conflict, "station_exists",
		"another active station has this URL; use a different one").With("field", "url")
	ErrHubURL = apperr.New(apperr.Conflict, "station_exists",
		"this is the URL of the hub; use the URL of the station").With("field", "url")
	ErrLimit = apperr.New(apperr.Conflict, "limit_reached", "limit of 10 stations reached; delete one first").With("limit", MaxOwned)
	ErrIDs   = apperr.New(apperr.Conflict, "limit_reached",
		"limit of 30 station ids of an operator reached; use the id of a deleted station again").With("limit", MaxIDs)
	ErrOwner       = apperr.New(apperr.Forbidden, "forbidden", "the station belongs to another operator")
	ErrNotApproved = apperr.New(apperr.Forbidden, "not_approved",
		"the station is pending or suspended; an administrator must approve it first")
	ErrStatus = invalid("status", "status must be active or paused")
)

func invalid(field, text string) *apperr.Fault {
	return apperr.New(apperr.Invalid, "invalid_"+protocol.Snake(field), text).With("field", field)
}

// Status is the status of a station. The hub shows only the data of active stations.
type Status string

// Values of Status.
const (
	Pending   Status = "pending" // not approved yet
	Active    Status = "active"
	Paused    Status = "paused"    // set by the owner
	Suspended Status = "suspended" // set by an administrator
)

// Statuses lists all statuses that a station can have.
var Statuses = [...]Status{Pending, Active, Paused, Suspended}

// Station is a partner site that an operator has registered, and whose data the hub can show.
type Station struct {
	ID           string
	OwnerID      string
	OwnerHandle  string
	Name         string
	URL          string
	OriginURL    string // origin of URL, as Origin returns it
	Description  string
	Lanes        []protocol.Lane     // empty: all
	Providers    []protocol.Provider // empty: all
	TapesURL     string              // empty: none
	OperatorsURL string              // empty: none
	Status       Status
	LastSeenAt   time.Time
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Draft is a new station or a change of a station. In a change, a nil member leaves the value unchanged.
type Draft struct {
	ID           string
	Name         *string
	URL          *string
	Description  *string
	Lanes        []protocol.Lane
	Providers    []protocol.Provider
	TapesURL     *string // empty: none
	OperatorsURL *string // empty: none
	Status       *Status // active or paused; allowed only for an approved station
}

// IsID reports whether a text has the form of a station id: 3 to 32 characters of a-z, 0-9 and -.
func IsID(s string) bool {
	return len(s) >= 3 && len(s) <= 32 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// apply returns the station with the changes of a draft. If an approved station gets another origin or data URL, its status
// becomes pending. Errors: invalid_<member> and not_approved.
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

// urlForm describes the URLs that delivery.AllowedURL permits in production. It follows the name of a member in error texts.
const urlForm = " must be an https URL of a public host with at most 500 ASCII characters, without a user name or a fragment"

func (s *Station) check(allowed func(url string) bool) error {
	switch {
	case !IsID(s.ID):
		return invalid("stationId", "stationId must be 3 to 32 characters of a-z, 0-9 and -")
	case !protocol.IsName(s.Name, 1, MaxName):
		return invalid("name", "name must be 1 to 64 visible characters on one line, without format characters")
	case !allowed(s.URL):
		return invalid("url", "url"+urlForm)
	case utf8.RuneCountInString(s.Description) > MaxDescription || !protocol.IsText(s.Description, true):
		return invalid("description", "description must have at most 280 characters, without control characters (except line feeds), "+
			"marks of the writing direction or private use characters")
	case s.TapesURL != "" && !allowed(s.TapesURL):
		return invalid("tapesUrl", "tapesUrl"+urlForm)
	case s.OperatorsURL != "" && !allowed(s.OperatorsURL):
		return invalid("operatorsUrl", "operatorsUrl"+urlForm)
	case len(s.Lanes) > len(protocol.Lanes) || hasDuplicates(s.Lanes) || slices.ContainsFunc(s.Lanes, func(l protocol.Lane) bool { _, ok := protocol.ParseLane(string(l)); return !ok }):
		return invalid("lanes", "lanes must be values of: "+protocol.LaneNames(protocol.Lanes[:])+", each at most once")
	case len(s.Providers) > len(protocol.Providers) || hasDuplicates(s.Providers) || slices.ContainsFunc(s.Providers, func(p protocol.Provider) bool { _, ok := protocol.ParseProvider(string(p)); return !ok }):
		return invalid("providers", "providers must be polymarket, kalshi, limitless, manifold or manual, each at most once")
	}
	return nil
}

func hasDuplicates[T comparable](list []T) bool {
	for i, v := range list {
		if slices.Contains(list[:i], v) {
			return true
		}
	}
	return false
}

// Origin returns the origin of a URL in the form that browsers use: scheme, host and port in lower case, without a default port
// and without a trailing dot. It returns an empty string if the URL cannot be parsed.
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
