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
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	signalv1 "github.com/signalcast/signalcast/proto/signal/v1"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/record"
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

// recordOf asks for the record of a handle with its newest calls and moments.
func recordOf(handle syntax.Handle, recent, moments int32) *recordv1.GetOperatorRecordRequest {
	return &recordv1.GetOperatorRecordRequest{
		By: &recordv1.GetOperatorRecordRequest_Handle{Handle: string(handle)}, Recent: recent, Moments: moments,
	}
}

// isAI reports whether an operator is an AI agent.
func isAI(o *operatorv1.Operator) bool {
	return syntax.OperatorType(o.GetOperatorType()) == syntax.AIAgent
}

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
		r, err := s.Ledger.Records.GetOperatorRecord(ctx, recordOf(handle, atomRecent, atomMoments))
		if err != nil {
			return nil, err
		}
		brief, cancel := context.WithTimeout(ctx, followTime)
		defer cancel()
		id := operator.ID(r.GetOperator().GetId())
		followers, away := s.Accounts.Follows.Followers(brief, []operator.ID{id})
		atom := s.showAtom(r, followers[id])
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
		r, err := s.Ledger.Records.GetOperatorRecord(ctx, recordOf(handle, fieldRecent, 0))
		if err != nil {
			return nil, err
		}
		return web.Marshal(s.showFieldRecord(r))
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
	r, err := s.Ledger.Records.GetOperatorRecord(ctx, &recordv1.GetOperatorRecordRequest{
		By: &recordv1.GetOperatorRecordRequest_Id{Id: string(id)}, Recent: fieldRecent,
	})
	if err != nil {
		return fieldRecordJSON{}, err
	}
	return s.showFieldRecord(r), nil
}

func (s *server) showAtom(r *recordv1.GetOperatorRecordResponse, followers int64) atomJSON {
	o, st := r.GetOperator(), r.GetStats()
	resolved := record.Resolved(st)
	out := atomJSON{
		Handle: o.GetHandle(), OperatorPublicID: o.GetPublicId(), DisplayName: o.GetDisplayName(), AvatarURL: orNull(o.GetAvatarUrl()),
		Rank: record.Title(resolved), Manifesto: orNull(o.GetBio()), OperatorType: o.GetOperatorType(), IsAI: isAI(o),
		Tier: o.GetTier(),
		Stats: openapi.OperatorAtom_Stats{
			TotalCalls: st.GetTotal(), ResolvedCalls: resolved, Accuracy: int64(st.GetAccuracy()), Score: st.GetScore(),
			Streak: st.GetStreak(), AvgClvBps: openapi.Int(record.AvgClv(st)), Followers: followers, BroadcastScore: int64(r.GetBroadcastScore()),
		},
		RecentCalls: s.showCalls(r.GetRecent()), Moments: make([]openapi.Moment, 0, len(r.GetMoments())),
		Meta: openapi.OperatorAtom_Meta{
			AtomVersion: atomVersion, EmbedURL: s.HubURL + "/operator/" + o.GetHandle() + "/embed",
			AtomURL: s.HubURL + "/api/operator/" + o.GetHandle(),
		},
	}
	if b := r.GetBest(); b != nil {
		out.Stats.BestCall = &openapi.OperatorAtom_Stats_BestCall{
			OddsBps: int64(b.GetOddsBps()), MarketID: b.GetMarketId(), MarketTitle: b.GetMarketTitle(), SignalID: b.GetSignalId(),
		}
	}
	for _, m := range r.GetMoments() {
		out.Moments = append(out.Moments, openapi.Moment{
			ID: m.GetId(), Tier: m.GetTier(), SignalID: m.GetSignalId(), MarketID: m.GetMarketId(), MarketTitle: m.GetMarketTitle(),
			Direction: m.GetDirection(), OddsBps: int64(m.GetOddsBps()), Score: int64(m.GetScore()), MintedAt: stamp(m.GetMintedAt()),
			ReceiptURL: s.receiptURL(m.GetSignalId()),
		})
	}
	return out
}

func (s *server) showFieldRecord(r *recordv1.GetOperatorRecordResponse) fieldRecordJSON {
	handle, st := r.GetOperator().GetHandle(), r.GetStats()
	return fieldRecordJSON{
		Handle: handle, Origin: hubOrigin, Rank: r.Rank, Operators: r.GetField(), Score: st.GetScore(), Calls: st.GetTotal(),
		Resolved: record.Resolved(st), Correct: st.GetWon(), Pending: record.Pending(st), Accuracy: st.GetAccuracy(),
		Streak: st.GetStreak(), AvgClvBps: record.AvgClv(st),
		Recent: s.showCalls(r.GetRecent()), ProfileURL: s.HubURL + "/u/" + handle,
	}
}

// receiptURL is the page of a call.
func (s *server) receiptURL(id string) string { return s.HubURL + "/receipts/" + id }

func (s *server) showCalls(list []*signalv1.Signal) []callJSON {
	out := make([]callJSON, 0, len(list))
	for _, c := range list {
		out = append(out, callJSON{
			SignalID: c.GetId(), MarketID: c.GetMarketId(), MarketTitle: c.GetMarketTitle(), Direction: c.GetDirection(),
			Status:            c.GetStatus(),
			PriceAtPrediction: int(c.GetPriceBps()), Score: c.Score, CreatedAt: stamp(c.GetCreatedAt()), ReceiptURL: s.receiptURL(c.GetId()),
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
