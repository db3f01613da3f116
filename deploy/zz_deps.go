package deps
import (
	_ "github.com/signalcast/signalcast/pkg"
	_ "github.com/signalcast/signalcast/proto"
	_ "github.com/google/uuid"
	_ "github.com/jackc/pgx/v5"
	_ "github.com/redis/go-redis/v9"
	_ "github.com/alecthomas/kong"
	_ "github.com/alicebob/miniredis/v2"
	_ "github.com/fergusstrange/embedded-postgres"
	_ "github.com/go-jose/go-jose/v4"
	_ "github.com/coder/websocket"
	_ "github.com/google/go-cmp/cmp"
	_ "go.uber.org/goleak"
	_ "pgregory.net/rapid"
)
