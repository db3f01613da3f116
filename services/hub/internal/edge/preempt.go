package edge

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	programv1 "github.com/signalcast/signalcast/proto/program/v1"
	"github.com/signalcast/signalcast/services/hub/internal/program"
)

// preempts is GET /api/broadcast/preempt.
func (s *server) preempts(c echo.Context) error {
	var list []*programv1.Preempt
	err := s.audited(c, act{}, func(ctx context.Context) (err error) {
		if s.Director == nil {
			return program.ErrAway
		}
		answer, err := s.Programs.ListPreempts(ctx, &programv1.ListPreemptsRequest{})
		list = answer.GetItems()
		return program.Away(err)
	})
	if err != nil {
		return err
	}
	out := openapi.Preempts{Items: make([]openapi.Preempt, 0, len(list)), Count: int64(len(list))}
	for _, p := range list {
		out.Items = append(out.Items, showPreempt(p))
	}
	return web.OK(c, out)
}

// preempt is POST /api/broadcast/preempt: a new entry, or the end of one.
func (s *server) preempt(c echo.Context) error {
	o, err := web.Decode(c, web.BodyLimit)
	if err != nil {
		return err
	}
	if o.Has("action") {
		return s.cancelPreempt(c, o)
	}
	d := program.Draft{
		MarketID: readMarketID(o, "marketId"), Lane: o.String("lane", 32, false), StartsAt: readTime(o, "startsAt", false),
		Reason: o.Line("reason", program.MaxReason, false),
	}
	if n := opt32(o, "slots", 1, program.MaxSlots); n != nil {
		d.Slots = *n
	}
	preemptID(o, false) // of no use here, and held to its form all the same
	if err := o.Err(); err != nil {
		return err
	}
	var made *programv1.Preempt
	err = s.audited(c, act{target: string(d.MarketID), detail: d}, func(ctx context.Context) (err error) {
		if s.Director == nil {
			return program.ErrAway
		}
		if _, err = s.readMarket(ctx, d.MarketID); err != nil {
			return unknownMarket(err, d.MarketID)
		}
		answer, err := s.Director.CreatePreempt(ctx, d.Request())
		made = answer.GetItem()
		return program.Away(err)
	})
	if err != nil {
		return err
	}
	return web.JSON(c, http.StatusCreated, openapi.Preempted{Ok: true, Item: showPreempt(made)})
}

func (s *server) cancelPreempt(c echo.Context, o web.Object) error {
	o.Enum("action", "cancel")
	id := preemptID(o, true)
	if err := o.Err(); err != nil {
		return err
	}
	var ended *programv1.Preempt
	err := s.audited(c, act{target: id}, func(ctx context.Context) (err error) {
		if s.Director == nil {
			return program.ErrAway
		}
		answer, err := s.Director.CancelPreempt(ctx, &programv1.CancelPreemptRequest{Id: id})
		ended = answer.GetItem()
		return program.Away(err)
	})
	if err != nil {
		return err
	}
	return web.OK(c, openapi.Preempted{Ok: true, Item: showPreempt(ended)})
}

// preemptID reads which entry is meant.
func preemptID(o web.Object, need bool) string {
	raw := o.String("id", web.BodyLimit, need)
	id, ok := parseUUID(raw)
	if !ok && (raw != "" || o.Has("id")) {
		o.Invalid("id", "is no uuid")
	}
	return id
}

func showPreempt(p *programv1.Preempt) openapi.Preempt {
	return openapi.Preempt{
		ID: p.GetId(), Lane: p.GetLane(), MarketID: p.GetMarketId(), StartsAt: syntax.Stamp(ledgerclient.Time(p.GetStartsAt())),
		Slots: int64(p.GetSlots()), Reason: orNull(p.GetReason()), Status: p.GetStatus(),
		CreatedAt: syntax.Stamp(ledgerclient.Time(p.GetCreatedAt())),
	}
}
