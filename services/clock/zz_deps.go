//go:build deps

package deps
import (
	_ "github.com/signalcast/signalcast/pkg"
	_ "github.com/signalcast/signalcast/proto"
	_ "github.com/google/uuid"
	_ "github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/labstack/echo/v4"
	_ "github.com/redis/go-redis/v9"
	_ "github.com/caarlos0/env/v11"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "golang.org/x/sync/singleflight"
	_ "google.golang.org/grpc"
	_ "google.golang.org/protobuf/proto"
	_ "github.com/google/go-cmp/cmp"
	_ "go.uber.org/goleak"
	_ "pgregory.net/rapid"
)
