package deps
import (
	_ "github.com/google/uuid"
	_ "github.com/jackc/pgx/v5"
	_ "github.com/redis/go-redis/v9"
	_ "github.com/anishathalye/porcupine"
	_ "github.com/Shopify/toxiproxy/v2"
	_ "github.com/getkin/kin-openapi/openapi3filter"
	_ "github.com/chromedp/chromedp"
	_ "github.com/coder/websocket"
	_ "github.com/go-jose/go-jose/v4"
	_ "github.com/google/go-cmp/cmp"
	_ "go.uber.org/goleak"
	_ "pgregory.net/rapid"
	_ "google.golang.org/grpc"
	_ "google.golang.org/protobuf/proto"
)
