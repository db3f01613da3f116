package edge

import (
	"context"
	"errors"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/page"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/record"
	"github.com/signalcast/signalcast/services/hub/internal/signal"
)

type atomJSON struct {
	Handle           string                     `json:"handle"`
	OperatorPublicID string                     `json:"operatorPublicId"`
	DisplayName      string                     `json:"displayName"`
	AvatarURL        *string                    `json:"avatarUrl"`
	Rank             string                     `json:"rank"` // a title
	Manifesto        *string                    `json:"manifesto"`
	OperatorType     string                     `json:"operatorType"`
	IsAI             bool                       `json:"isAi"`
	Tier             string                     `json:"tier"`
	Stats            openapi.OperatorAtom_Stats `json:"stats"`
	Live             bool                       `json:"live"`
	Approved         bool                       `json:"approved"`
	LiveSignal       any                        `json:"liveSignal"` // null: none is set
	RecentCalls      []callJSON                 `json:"recentCalls"`
	Moments          []openapi.Moment           `json:"moments"`
	Meta             openapi.OperatorAtom_Meta  `json:"_meta"`
}

type callJSON struct {
	SignalID          string `json:"signalId"`
	MarketID          string `json:"marketId"`
	MarketTitle       string `json:"marketTitle"`
	Direction         string `json:"direction"`
	Status            string `json:"status"`
	PriceAtPrediction int    `json:"priceAtPrediction"`
	Score             *int32 `json:"score"`
	CreatedAt         string `json:"createdAt"`
	ReceiptURL        string `json:"receiptUrl"`
	factsJSON
}

type fieldRecordJSON struct {
	Handle     string     `json:"handle"`
	Origin     string     `json:"origin"`
	Rank       *int64     `json:"rank"`
	Operators  int64      `json:"operators"`
	Score      int64      `json:"score"`
	Calls      int64      `json:"calls"`
	Resolved   int64      `json:"resolved"`
	Correct    int64      `json:"correct"`
	Pending    int64      `json:"pending"`
	Accuracy   int32      `json:"accuracy"`
	Streak     int64      `json:"streak"`
	AvgClvBps  *int32     `json:"avgClvBps"`
	Recent     []callJSON `json:"recent"`
	ProfileURL string     `json:"profileUrl"`
}

// What the atom and the field record show of their lists.
const (
	atomRecent  = 10
	atomMoments = 20
	fieldRecent = 5
)

const atomVersion = "1.0"

// atom is GET /api/operator/{handle}.
func (s *server) atom(c echo.Context) error {
	handle, err := handleParam(c)
	if err != nil {
		return err
	}
	err = s.records.Serve(c.Response(), c.Request(), atomKey(handle), s.buildAtom(handle))
	var part *passing
	if !errors.As(err, &part) {
		return err
	}
	s.markDegraded(c, part.source)
	part.page.WriteTo(c.Response(), c.Request())
	return nil
}

func atomKey(handle syntax.Handle) string { return joinKey("atom", string(handle)) }

func (s *server) buildAtom(handle syntax.Handle) page.Build {
	return func(ctx context.Context) ([]byte, error) {
		r, err := s.Records.Operator(ctx, record.Query{Handle: handle, Recent: atomRecent, Moments: atomMoments})
		if err != nil {
			return nil, err
		}
		brief, cancel := context.WithTimeout(ctx, followTime)
		defer cancel()
		followers, away := s.Accounts.Follows.Followers(brief, []operator.ID{r.Operator.ID})
		atom := s.showAtom(&r, followers[r.Operator.ID])
		s.airAtom(brief, &atom, handle)
		body, err := web.Marshal(atom)
		if err != nil || away == nil {
			return body, err
		}
		return nil, &passing{page: page.Make(body), source: "follows"}
	}
}

// airAtom adds whether the operator is live, and the signal over its picture. A record
// that has to do without is as good.
func (s *server) airAtom(ctx context.Context, atom *atomJSON, handle syntax.Handle) {
	show, live, _ := s.OnAir.Shown(ctx, handle)
	atom.Live, atom.Approved = live, show.Approved
	if o, set, err := s.OnAir.Overlay(ctx, handle); err == nil && set {
		atom.LiveSignal = openapi.AtomSignal{MarketID: string(o.MarketID), Name: o.Name, YesPct: o.YesPct, Slug: o.Slug}
	}
}

// fieldRecord is GET /api/network/field-record/{handle}.
func (s *server) fieldRecord(c echo.Context) error {
	handle, err := handleParam(c)
	if err != nil {
		return err
	}
	return s.records.Serve(c.Response(), c.Request(), joinKey("field", string(handle)), func(ctx context.Context) ([]byte, error) {
		r, err := s.Records.Operator(ctx, record.Query{Handle: handle, Recent: fieldRecent})
		if err != nil {
			return nil, err
		}
		return web.Marshal(s.showFieldRecord(&r))
	})
}

// ownFieldRecord is GET /api/network/field-record/me.
func (s *server) ownFieldRecord(c echo.Context) error {
	shown, err := s.fieldRecordOf(c.Request().Context(), callerOf(c).Operator.ID)
	if err != nil {
		return err
	}
	return web.OK(c, shown)
}

// fieldRecordOf reads the field record of an operator as it stands now.
func (s *server) fieldRecordOf(ctx context.Context, id operator.ID) (fieldRecordJSON, error) {
	r, err := s.Records.Operator(ctx, record.Query{ID: id, Recent: fieldRecent})
	if err != nil {
		return fieldRecordJSON{}, err
	}
	return s.showFieldRecord(&r), nil
}

func (s *server) showAtom(r *record.Record, followers int64) atomJSON {
	o, st := r.Operator, &r.Stats
	out := atomJSON{
		Handle: string(o.Handle), OperatorPublicID: string(o.PublicID), DisplayName: o.DisplayName, AvatarURL: orNull(o.AvatarURL),
		Rank: record.Title(st.Resolved()), Manifesto: orNull(o.Bio), OperatorType: string(o.Type), IsAI: o.IsAI(),
		Tier: string(o.Tier),
		Stats: openapi.OperatorAtom_Stats{
			TotalCalls: st.Total, ResolvedCalls: st.Resolved(), Accuracy: int64(st.Accuracy), Score: st.Score, Streak: st.Streak,
			AvgClvBps: openapi.Int(st.AvgClv), Followers: followers, BroadcastScore: int64(r.BroadcastScore),
		},
		RecentCalls: s.showCalls(r.Recent), Moments: make([]openapi.Moment, 0, len(r.Moments)),
		Meta: openapi.OperatorAtom_Meta{
			AtomVersion: atomVersion, EmbedURL: s.HubURL + "/operator/" + string(o.Handle) + "/embed",
			AtomURL: s.HubURL + "/api/operator/" + string(o.Handle),
		},
	}
	if b := r.Best; b != nil {
		out.Stats.BestCall = &openapi.OperatorAtom_Stats_BestCall{
			OddsBps: int64(b.Odds), MarketID: string(b.MarketID), MarketTitle: b.MarketTitle, SignalID: b.SignalID,
		}
	}
	for _, m := range r.Moments {
		out.Moments = append(out.Moments, openapi.Moment{
			ID: m.ID, Tier: m.Tier, SignalID: m.SignalID, MarketID: string(m.MarketID), MarketTitle: m.MarketTitle,
			Direction: string(m.Direction),
			OddsBps:   int64(m.Odds), Score: int64(m.Score), MintedAt: syntax.Stamp(m.MintedAt), ReceiptURL: s.receiptURL(m.SignalID),
		})
	}
	return out
}

func (s *server) showFieldRecord(r *record.Record) fieldRecordJSON {
	st := &r.Stats
	return fieldRecordJSON{
		Handle: string(r.Operator.Handle), Origin: hubOrigin, Rank: r.Rank, Operators: r.Field, Score: st.Score, Calls: st.Total,
		Resolved: st.Resolved(), Correct: st.Won, Pending: st.Pending(), Accuracy: st.Accuracy, Streak: st.Streak,
		AvgClvBps: st.AvgClv,
		Recent:    s.showCalls(r.Recent), ProfileURL: s.HubURL + "/u/" + string(r.Operator.Handle),
	}
}

// receiptURL is the page of a call.
func (s *server) receiptURL(id string) string { return s.HubURL + "/receipts/" + id }

func (s *server) showCalls(list []signal.Signal) []callJSON {
	out := make([]callJSON, 0, len(list))
	for i := range list {
		c := &list[i]
		out = append(out, callJSON{
			SignalID: c.ID, MarketID: string(c.MarketID), MarketTitle: c.MarketTitle, Direction: string(c.Direction),
			Status:            string(c.Status),
			PriceAtPrediction: int(c.Price), Score: c.Score, CreatedAt: syntax.Stamp(c.CreatedAt), ReceiptURL: s.receiptURL(c.ID),
			factsJSON: showFacts(c),
		})
	}
	return out
}

// Times of the books of skill and of the pulse.
const (
	skillTTL     = 30 * time.Second
	skillTimeout = 5 * time.Second
	skillKeys    = 512
	pulseTTL     = 300 * time.Second
	pulseTimeout = 10 * time.Second
)
