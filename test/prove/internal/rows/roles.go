package rows

import (
	"context"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
)

// digest is a hash over every row of a table.
func digest(ctx context.Context, env *frame.Env, table string) (string, error) {
	return env.Text(ctx, "SELECT coalesce(md5(string_agg(md5(t::text), '' ORDER BY md5(t::text))), '') FROM api."+table+" t")
}
