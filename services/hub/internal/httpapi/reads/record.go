package reads

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpcache"
	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/proto/openapi"
	recordv1 "github.com/signalcast/signalcast/proto/record/v1"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/request"
	"github.com/signalcast/signalcast/services/hub/internal/httpapi/view"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/record"
)

// Maximum list lengths: recent calls and moments in the public record (atom) of an operator, and recent calls in the field
// record.
const (
	atomRecent  = 10
	atomMoments = 20
	fieldRecent = 5
)

const atomVersion = "1.0"

// Atom handles GET /api/operator/{handle}, the atom of an operator: the public record in one JSON object.
func (s *Server) Atom(c echo.Context, handle protocol.Handle) error {
	return view.Serve(c, s.recordPages, atomKey(handle), s.buildAtom(handle))
}

func atomKey(handle protocol.Handle) string { return httpcache.JoinKey("atom", string(handle)) }

func (s *Server) buildAtom(handle protocol.Handle) httpcache.Build {
	return func(ctx context.Context) ([]byte, error) {
		r, err := s.Ledger.Records.GetOperatorRecord(ctx, record.Request(handle, atomRecent, atomMoments))
		if err != nil {
			return nil, err
		}
		brief, cancel := context.WithTimeout(ctx, request.FollowTimeout)
		defer cancel()
		id := operator.ID(r.GetOperator().GetId())
		followers, failed := s.Follows.Followers(brief, []operator.ID{id})
		atom := s.showAtom(r, followers[id])
		live, approved, shown := view.LiveState(brief, s.OnAir, handle)
		atom.Live, atom.Approved = live, approved
		if shown != nil {
			atom.LiveSignal = &openapi.OperatorAtom_LiveSignal{
				MarketID: shown.MarketID, Name: shown.Name, YesPct: shown.YesPct, Slug: shown.Slug,
			}
		}
		return view.Marshal(view.Answer{Value: atom, Missing: view.WithoutFollows(failed)}, nil)
	}
}

// FieldRecord handles GET /api/network/field-record/{handle}, the rank and totals of an operator.
func (s *Server) FieldRecord(c echo.Context, handle protocol.Handle) error {
	return view.Serve(c, s.recordPages, httpcache.JoinKey("field", string(handle)), func(ctx context.Context) ([]byte, error) {
		r, err := s.Ledger.Records.GetOperatorRecord(ctx, record.Request(handle, fieldRecent, 0))
		if err != nil {
			return nil, err
		}
		return httpx.Marshal(s.showFieldRecord(r))
	})
}

// OwnFieldRecord handles GET /api/network/field-record/me, the field record of the caller. It is not cached.
func (s *Server) OwnFieldRecord(c echo.Context) error {
	shown, err := s.fieldRecordOf(c.Request().Context(), request.Caller(c).Operator.ID)
	return view.OK(c, shown, err)
}

// fieldRecordOf reads the field record of an operator from the ledger: the rank among all operators and the totals.
func (s *Server) fieldRecordOf(ctx context.Context, id operator.ID) (openapi.FieldRecord, error) {
	r, err := s.Ledger.Records.GetOperatorRecord(ctx, &recordv1.GetOperatorRecordRequest{
		By: &recordv1.GetOperatorRecordRequest_Id{Id: string(id)}, Recent: fieldRecent,
	})
	if err != nil {
		return openapi.FieldRecord{}, err
	}
	return s.showFieldRecord(r), nil
}

func (s *Server) showAtom(r *recordv1.GetOperatorRecordResponse, followers int64) openapi.OperatorAtom {
	o, st := r.GetOperator(), r.GetStats()
	resolved := record.Resolved(st)
	out := openapi.OperatorAtom{
		Handle: o.GetHandle(), OperatorPublicID: o.GetPublicId(), DisplayName: o.GetDisplayName(),
		AvatarURL: httpx.OrNull(o.GetAvatarUrl()),
		Rank:      record.Title(resolved), Manifesto: httpx.OrNull(o.GetBio()), OperatorType: o.GetOperatorType(),
		IsAi: view.IsAI(o),
		Tier: o.GetTier(),
		Stats: openapi.OperatorAtom_Stats{
			TotalCalls: st.GetTotal(), ResolvedCalls: resolved, Accuracy: int64(st.GetAccuracy()), Score: st.GetScore(),
			Streak: st.GetStreak(), AvgClvBps: openapi.Int(record.AvgClv(st)), Followers: followers,
			BroadcastScore: int64(r.GetBroadcastScore()),
		},
		RecentCalls: view.ShowCalls(s.HubURL, r.GetRecent()), Moments: view.List(r.GetMoments(), s.showMoment),
		UnderscoreMeta: openapi.OperatorAtom_Meta{
			AtomVersion: atomVersion, EmbedURL: s.HubURL + "/operator/" + o.GetHandle() + "/embed",
			AtomURL: s.HubURL + "/api/operator/" + o.GetHandle(),
		},
	}
	if b := r.GetBest(); b != nil {
		out.Stats.BestCall = &openapi.OperatorAtom_Stats_BestCall{
			OddsBps: int64(b.GetOddsBps()), MarketID: b.GetMarketId(), MarketTitle: b.GetMarketTitle(), SignalID: b.GetSignalId(),
		}
	}
	return out
}

func (s *Server) showMoment(m *recordv1.Moment) openapi.Moment {
	return openapi.Moment{
		ID: m.GetId(), Tier: m.GetTier(), SignalID: m.GetSignalId(), MarketID: m.GetMarketId(),
		MarketTitle: m.GetMarketTitle(),
		Direction:   m.GetDirection(), OddsBps: int64(m.GetOddsBps()), Score: int64(m.GetScore()),
		MintedAt:   ledgerclient.Stamp(m.GetMintedAt()),
		ReceiptURL: view.ReceiptURL(s.HubURL, m.GetSignalId()),
	}
}

func (s *Server) showFieldRecord(r *recordv1.GetOperatorRecordResponse) openapi.FieldRecord {
	handle, st := r.GetOperator().GetHandle(), r.GetStats()
	return openapi.FieldRecord{
		Handle: handle, Origin: view.HubOrigin, Rank: r.Rank, Operators: r.GetField(), Score: st.GetScore(), Calls: st.GetTotal(),
		Resolved: record.Resolved(st), Correct: st.GetWon(), Pending: record.Pending(st), Accuracy: int64(st.GetAccuracy()),
		Streak: st.GetStreak(), AvgClvBps: openapi.Int(record.AvgClv(st)),
		Recent: view.ShowCalls(s.HubURL, r.GetRecent()), ProfileURL: s.HubURL + "/u/" + handle,
	}
}

// Cache times and build timeouts of skill reports and of the network pulse. skillKeys is the maximum number of cached skill
// reports.
const (
	skillTTL     = 30 * time.Second
	SkillTimeout = 5 * time.Second
	skillKeys    = 512
	pulseTTL     = 300 * time.Second
	PulseTimeout = 10 * time.Second
)
