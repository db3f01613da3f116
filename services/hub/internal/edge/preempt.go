package edge

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/pkg/web"
	"github.com/signalcast/signalcast/proto/openapi"
	"github.com/signalcast/signalcast/services/hub/internal/program"
)

// preempts is GET /api/broadcast/preempt.
func (s *server) preempts(c echo.Context) error {
	var list []program.Preempt
	err := s.audited(c, act{}, func(ctx context.Context) (err error) {
		if s.Director == nil {
			return program.ErrAway
		}
		list, err = s.Director.Preempts(ctx)
		return err
	})
	if err != nil {
		return err
	}
	out := openapi.Preempts{Items: make([]openapi.Preempt, 0, len(list)), Count: int64(len(list))}
	for i := range list {
		out.Items = append(out.Items, showPreempt(&list[i]))
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
	var made program.Preempt
	err = s.audited(c, act{target: string(d.MarketID), detail: d}, func(ctx context.Context) (err error) {
		if s.Director == nil {
			return program.ErrAway
		}
		if _, err = s.Markets.Market(ctx, d.MarketID); err != nil {
			return unknownMarket(err, d.MarketID)
		}
		made, err = s.Director.Preempt(ctx, d)
		return err
	})
	if err != nil {
		return err
	}
	return web.JSON(c, http.StatusCreated, openapi.Preempted{Ok: true, Item: showPreempt(&made)})
}

func (s *server) cancelPreempt(c echo.Context, o web.Object) error {
	o.Enum("action", "cancel")
	id := preemptID(o, true)
	if err := o.Err(); err != nil {
		return err
	}
	var ended program.Preempt
	err := s.audited(c, act{target: id}, func(ctx context.Context) (err error) {
		if s.Director == nil {
			return program.ErrAway
		}
		ended, err = s.Director.Cancel(ctx, id)
		return err
	})
	if err != nil {
		return err
	}
	return web.OK(c, openapi.Preempted{Ok: true, Item: showPreempt(&ended)})
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

func showPreempt(p *program.Preempt) openapi.Preempt {
	return openapi.Preempt{
		ID: p.ID, Lane: p.Lane, MarketID: p.MarketID, StartsAt: syntax.Stamp(p.StartsAt), Slots: int64(p.Slots),
		Reason: orNull(p.Reason), Status: p.Status, CreatedAt: syntax.Stamp(p.CreatedAt),
	}
}
