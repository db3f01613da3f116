package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signalcast/signalcast/deploy/venuesim/internal/world"
)

const (
	maxBody      = 64 << 10
	maxSeconds   = 86_400
	maxDelay     = 60
	maxText      = 20_000
	usualVolume  = 25_000
	usualLife    = 30 * 24 * time.Hour
	mostOutcomes = 8
)

// Venue is one simulated venue as the control routes see it.
type Venue struct {
	World  *world.World
	Switch *Switch
	// Line is the switch of its websocket and Sockets counts what is connected
	// there; nil at a venue without one.
	Line    *Switch
	Sockets func() (open, ever int, follows []int64)
	// Spell and Read turn a market's number into the id that our API uses for
	// it and back.
	Spell func(id int64) string
	Read  func(text string) (int64, bool)
	// Rules are what this venue can be told beyond what all can.
	Rules Rules
}

// Handler serves /sim/{venue}/….
func Handler(venues map[string]Venue) http.Handler {
	c := control{venues}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /sim/{venue}/markets", c.with(c.create))
	mux.HandleFunc("POST /sim/{venue}/markets/{id}", c.with(c.change))
	mux.HandleFunc("POST /sim/{venue}/fault", c.with(c.fault))
	mux.HandleFunc("GET /sim/{venue}/sockets", c.with(c.sockets))
	mux.HandleFunc("/sim/", func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusNotFound, "not_found", "no such control route")
	})
	return mux
}

type control struct{ venues map[string]Venue }

// refusal is a control request that cannot be done.
type refusal struct {
	status     int
	code, text string
}

func (r *refusal) Error() string { return r.text }

func bad(form string, args ...any) error {
	return &refusal{http.StatusBadRequest, "invalid_request", fmt.Sprintf(form, args...)}
}

// with finds the venue, reads the body and writes what comes back.
func (c control) with(do func(v Venue, r *http.Request, body []byte) (status int, out any, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, known := c.venues[r.PathValue("venue")]
		if !known {
			fail(w, http.StatusNotFound, "unknown_venue", "this simulator does not play "+strconv.Quote(r.PathValue("venue")))
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			fail(w, http.StatusRequestEntityTooLarge, "body_too_large", "the body is larger than 64 KiB")
			return
		}
		status, out, err := do(v, r, body)
		var no *refusal
		switch {
		case errors.As(err, &no):
			fail(w, no.status, no.code, no.text)
		case errors.Is(err, world.ErrNoMarket):
			fail(w, http.StatusNotFound, "market_not_found", err.Error())
		case errors.Is(err, world.ErrNoVerdict):
			fail(w, http.StatusBadRequest, "invalid_request", err.Error())
		case errors.Is(err, world.ErrFull):
			fail(w, http.StatusInsufficientStorage, "full", err.Error())
		default:
			answer(w, status, out)
		}
	}
}

type createBody struct {
	Question    string   `json:"question"`
	YesPrice    *float64 `json:"yesPrice"`
	EndDate     *string  `json:"endDate"`
	Outcomes    []string `json:"outcomes"`
	Volume      *float64 `json:"volume"`
	Tags        []string `json:"tags"`
	Category    string   `json:"category"`
	Description string   `json:"description"`
	EventTitle  string   `json:"eventTitle"`
	StartDate   *string  `json:"startDate"`
	Kind        string   `json:"kind"`
	Creator     string   `json:"creator"`
	bookBody
}

func (c control) create(v Venue, _ *http.Request, body []byte) (int, any, error) {
	var in createBody
	if err := decode(body, &in); err != nil {
		return 0, nil, err
	}
	d, err := in.draft(v.World.Now())
	if err == nil {
		err = v.Rules.draft(in)
	}
	if err != nil {
		return 0, nil, err
	}
	id, err := v.World.Create(d)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, map[string]string{"id": v.Spell(id)}, nil
}

func (in createBody) draft(now time.Time) (d world.Draft, err error) {
	d = world.Draft{
		Question: strings.TrimSpace(in.Question), Description: in.Description, Category: in.Category, EventTitle: in.EventTitle,
		Outcomes: in.Outcomes, End: now.Add(usualLife).Truncate(time.Second), Volume: usualVolume,
		Kind: in.Kind, Creator: in.Creator,
	}
	if d.Question == "" || len(d.Question) > maxText || len(d.Description) > maxText || len(d.EventTitle) > maxText {
		return d, bad("question is required; no text may be longer than %d bytes", maxText)
	}
	if in.YesPrice == nil {
		return d, bad("yesPrice is required: a number from 0 to 1")
	}
	if d.Price, err = world.FromFloat(*in.YesPrice); err != nil {
		return d, bad("yesPrice: %v", err)
	}
	if d.Book, d.Spread, err = in.read(); err != nil {
		return d, err
	}
	if in.EndDate != nil {
		if d.End, err = time.Parse(time.RFC3339, *in.EndDate); err != nil {
			return d, bad("endDate must be RFC 3339, such as 2027-01-31T12:00:00Z")
		}
		d.End = d.End.UTC()
	}
	if in.StartDate != nil {
		if d.Start, err = moment("startDate", *in.StartDate, now); err != nil {
			return d, err
		}
	}
	if d.Outcomes == nil {
		d.Outcomes = []string{"Yes", "No"}
	}
	if len(d.Outcomes) < 2 || len(d.Outcomes) > mostOutcomes {
		return d, bad("outcomes must be 2 to %d texts", mostOutcomes)
	}
	if in.Volume != nil {
		if d.Volume = *in.Volume; d.Volume < 0 {
			return d, bad("volume must not be negative")
		}
	}
	for _, label := range in.Tags {
		slug := world.Slug(label, 40)
		d.Tags = append(d.Tags, world.Tag{ID: "9" + strconv.Itoa(len(slug)), Label: label, Slug: slug})
	}
	return d, nil
}

// The parts of a venue that can fail alone.
const (
	onReads   = "reads"
	onSockets = "sockets"
)

func (c control) fault(v Venue, _ *http.Request, body []byte) (int, any, error) {
	var in struct {
		Mode    Mode     `json:"mode"`
		Seconds *float64 `json:"seconds"`
		On      string   `json:"on"`
		Delay   *float64 `json:"delay"`
	}
	if err := decode(body, &in); err != nil {
		return 0, nil, err
	}
	if !in.Mode.Known() {
		return 0, nil, bad("mode must be none, refuse, hang, slow, garbage or 429")
	}
	if in.On != "" && in.On != onReads && (in.On != onSockets || v.Line == nil) {
		return 0, nil, bad("on must be reads, or sockets at a venue that has them, or left out for both")
	}
	var d time.Duration
	if in.Mode != None {
		if in.Seconds == nil || *in.Seconds <= 0 || *in.Seconds > maxSeconds {
			return 0, nil, bad("seconds must be above 0 and at most %d", maxSeconds)
		}
		d = time.Duration(*in.Seconds * float64(time.Second))
	}
	delay := usualDelay
	if in.Delay != nil {
		if in.Mode != Slow || *in.Delay <= 0 || *in.Delay > maxDelay {
			return 0, nil, bad("delay goes with mode slow and must be above 0 and at most %d seconds", maxDelay)
		}
		delay = time.Duration(*in.Delay * float64(time.Second))
	}
	if in.On != onSockets {
		v.Switch.Set(in.Mode, d, delay)
	}
	if in.On != onReads && v.Line != nil {
		v.Line.Set(in.Mode, d, delay)
	}
	return http.StatusOK, map[string]any{"mode": in.Mode, "seconds": d.Seconds()}, nil
}

// sockets tells who is connected to the venue's websocket.
func (c control) sockets(v Venue, _ *http.Request, _ []byte) (int, any, error) {
	if v.Sockets == nil {
		return 0, nil, &refusal{http.StatusNotFound, "not_found", "this venue has no websocket here"}
	}
	open, ever, follows := v.Sockets()
	markets := make([]string, len(follows))
	for i, id := range follows {
		markets[i] = v.Spell(id)
	}
	return http.StatusOK, map[string]any{"open": open, "ever": ever, "markets": markets}, nil
}

// decode refuses unknown members: a misspelt one would silently do nothing.
func decode(body []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return bad("the body is not the JSON object expected: %v", err)
	}
	if dec.More() {
		return bad("the body holds more than one JSON value")
	}
	return nil
}

func answer(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		status, raw = http.StatusInternalServerError, []byte(`{"error":"internal_error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

func fail(w http.ResponseWriter, status int, code, text string) {
	answer(w, status, map[string]string{"error": code, "message": text})
}
