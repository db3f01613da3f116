package control

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/venue"
	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const (
	maxBody    = 64 << 10 // bytes of a request body
	maxSeconds = 86_400   // duration of a fault
	maxDelay   = 60       // seconds of mode slow
)

// Venue is a simulated venue and the switches that make it fail.
type Venue struct {
	World *world.World
	Venue venue.Venue
	Rules venue.Rules
	Reads *Switch
	// Stream is the switch of the websocket. Sockets returns the number of open connections, the number of connections since the
	// start, and the numbers of the markets that they follow. Both are nil at a venue without a websocket.
	Stream  *Switch
	Sockets func() (open, ever int, follows []int64)
}

// id returns the id that Signalcast uses for the market with this number in the world.
func (v *Venue) id(number int64) string {
	m, _ := v.World.Get(number)
	return v.Rules.Prefix + v.Venue.Key(&m)
}

// Handler returns the handler of the control routes /sim/{venue}/…. The map venues contains the venues by name.
func Handler(venues map[string]*Venue) http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, route func(*Venue, http.ResponseWriter, *http.Request) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			v, known := venues[r.PathValue("venue")]
			if !known {
				answerError(w, &refusal{http.StatusNotFound, "unknown_venue", "unknown venue " + strconv.Quote(r.PathValue("venue"))})
			} else if err := route(v, w, r); err != nil {
				answerError(w, err)
			}
		})
	}
	handle("POST /sim/{venue}/markets", (*Venue).create)
	handle("POST /sim/{venue}/markets/{id}", (*Venue).change)
	handle("POST /sim/{venue}/fault", (*Venue).fault)
	handle("GET /sim/{venue}/sockets", (*Venue).sockets)
	mux.HandleFunc("/sim/", func(w http.ResponseWriter, _ *http.Request) {
		answerError(w, &refusal{http.StatusNotFound, "not_found", "control route not found"})
	})
	return mux
}

// refusal is an error that contains the status, the code and the text of an error response.
type refusal struct {
	status     int
	code, text string
}

func (r *refusal) Error() string { return r.text }

func invalid(format string, args ...any) error {
	return &refusal{http.StatusBadRequest, "invalid_request", fmt.Sprintf(format, args...)}
}

func answerError(w http.ResponseWriter, err error) {
	var r *refusal
	switch {
	case errors.As(err, &r):
	case errors.Is(err, world.ErrNotFound):
		r = &refusal{http.StatusNotFound, "market_not_found", err.Error()}
	default:
		r = &refusal{http.StatusBadRequest, "invalid_request", err.Error()}
	}
	answer(w, r.status, map[string]string{"error": r.code, "message": r.text})
}

func answer(w http.ResponseWriter, status int, body any) { venue.Answer(w, status, body) }

// decode decodes the JSON body of a request. It refuses unknown members, because a misspelt member would otherwise have no
// effect.
func decode(w http.ResponseWriter, r *http.Request, into any) error {
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil && dec.More() {
		err = errors.New("it has more than one JSON value")
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return &refusal{http.StatusRequestEntityTooLarge, "body_too_large", "body must be at most 64 KiB"}
	case err != nil:
		return invalid("body must be one JSON object with the members of the route: %v", err)
	}
	return nil
}

// draft is the body of POST /sim/{venue}/markets.
type draft struct {
	Question    string       `json:"question"`
	YesPrice    *world.Price `json:"yesPrice"`
	EndDate     time.Time    `json:"endDate"`
	StartDate   time.Time    `json:"startDate"`
	Outcomes    []string     `json:"outcomes"`
	Volume      *float64     `json:"volume"`
	Tags        []string     `json:"tags"`
	Category    string       `json:"category"`
	Description string       `json:"description"`
	EventTitle  string       `json:"eventTitle"`
	Kind        string       `json:"kind"`
	Creator     string       `json:"creator"`
	book
}

func (v *Venue) create(w http.ResponseWriter, r *http.Request) error {
	var in draft
	if err := decode(w, r, &in); err != nil {
		return err
	}
	m, err := in.market(v.World.Now(), v.Rules)
	if err != nil {
		return err
	}
	answer(w, http.StatusCreated, map[string]string{"id": v.id(v.World.Create(m))})
	return nil
}

// market validates the body and returns the market that it describes. Omitted members get default values.
func (in *draft) market(now time.Time, rules venue.Rules) (m world.Market, err error) {
	m = world.Market{
		Question: strings.TrimSpace(in.Question), Description: in.Description, Category: in.Category, Labels: in.Outcomes,
		Event: world.Event{Title: in.EventTitle}, Kind: in.Kind, Creator: in.Creator, Volume: 25_000,
		Start: in.StartDate.UTC(), End: cmp.Or(in.EndDate, now.Add(30*24*time.Hour).Truncate(time.Second)).UTC(), Spread: in.Spread,
	}
	if in.Volume != nil {
		m.Volume = *in.Volume
	}
	if m.Labels == nil {
		m.Labels = []string{"Yes", "No"}
	}
	for _, label := range in.Tags {
		m.Tags = append(m.Tags, world.NewTag(label))
	}
	switch {
	case m.Question == "" || in.YesPrice == nil:
		return m, invalid("question and yesPrice are required")
	case len(m.Labels) < 2 || in.Outcomes != nil && !rules.Labels:
		return m, invalid("outcomes must be at least two labels and requires a venue with labels")
	case m.Volume < 0:
		return m, invalid("volume must not be negative")
	case in.Kind != "" && !slices.Contains(rules.Kinds, in.Kind):
		return m, invalid("kind must be one of: %s", strings.Join(rules.Kinds, ", "))
	case in.Creator != "" && !rules.Creator:
		return m, invalid("this venue has no creators")
	case in.StartDate.After(now):
		return m, invalid("startDate must not be in the future")
	}
	m.Price = *in.YesPrice
	m.Book, err = in.top(rules)
	return m, err
}

// fault serves POST /sim/{venue}/fault. It sets the failure mode of the reads, of the websocket, or of both, for a number of
// seconds.
func (v *Venue) fault(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Mode    Mode    `json:"mode"`
		Seconds float64 `json:"seconds"`
		On      string  `json:"on"`
		Delay   float64 `json:"delay"`
	}
	if err := decode(w, r, &in); err != nil {
		return err
	}
	switch {
	case !in.Mode.valid():
		return invalid("mode must be none, refuse, hang, slow, garbage or 429")
	case in.On != "" && in.On != "reads" && (in.On != "sockets" || v.Stream == nil):
		return invalid("on must be reads or sockets, and sockets requires a venue with a websocket; without on both fail")
	case in.Mode != None && (in.Seconds <= 0 || in.Seconds > maxSeconds):
		return invalid("seconds must be above 0 and at most %d", maxSeconds)
	case in.Delay != 0 && (in.Mode != Slow || in.Delay < 0 || in.Delay > maxDelay):
		return invalid("delay requires mode slow and must be above 0 and at most %d seconds", maxDelay)
	}
	duration, delay := time.Duration(in.Seconds*float64(time.Second)), time.Duration(in.Delay*float64(time.Second))
	if in.On != "sockets" {
		v.Reads.Set(in.Mode, duration, delay)
	}
	if in.On != "reads" && v.Stream != nil {
		v.Stream.Set(in.Mode, duration, delay)
	}
	answer(w, http.StatusOK, map[string]any{"mode": in.Mode, "seconds": in.Seconds})
	return nil
}

// sockets serves GET /sim/{venue}/sockets: the numbers of websocket connections and the markets that they follow.
func (v *Venue) sockets(w http.ResponseWriter, _ *http.Request) error {
	if v.Sockets == nil {
		return &refusal{http.StatusNotFound, "not_found", "this venue has no websocket"}
	}
	open, ever, follows := v.Sockets()
	markets := make([]string, len(follows))
	for i, number := range follows {
		markets[i] = v.id(number)
	}
	answer(w, http.StatusOK, map[string]any{"open": open, "ever": ever, "markets": markets})
	return nil
}
