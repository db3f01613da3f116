package rows

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/signalcast/signalcast/test/prove/client"
	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

// searchAll looks through the database, Redis, the logs and the metrics.
func (h *haystack) searchAll(ctx context.Context, env *frame.Env) error {
	if err := h.searchTables(ctx, env); err != nil {
		return err
	}
	if err := h.searchRedis(ctx, env); err != nil {
		return err
	}
	logs, err := env.Stack.Logs()
	if err != nil {
		return err
	}
	for _, path := range logs {
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		h.search(path, string(raw))
	}
	for _, name := range []string{"hub", "hub-2", "api", "clock"} {
		settings, err := stack.Environment(env.Stack.PID(name))
		if err != nil {
			return err
		}
		a := env.Client.Do(ctx, client.Request{URL: "http://" + settings["METRICS_ADDR"] + "/metrics"})
		if a.Status != http.StatusOK {
			return fmt.Errorf("the metrics of %s: %s", name, a)
		}
		h.search("the metrics of "+name, string(a.Body))
	}
	return nil
}

// searchTables reads every row of every table of ours, and the statements that
// Postgres remembers.
func (h *haystack) searchTables(ctx context.Context, env *frame.Env) error {
	if _, err := env.DB.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements"); err != nil {
		return err
	}
	rows, err := env.DB.Query(ctx, `SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'm') AND n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'`)
	if err != nil {
		return err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, table := range append(tables, "pg_stat_statements", "pg_stat_activity") {
		rows, err := env.DB.Query(ctx, "SELECT t::text FROM "+table+" t")
		if err != nil {
			return err
		}
		for rows.Next() {
			h.search("table "+table, string(rows.RawValues()[0]))
		}
		if err := rows.Err(); err != nil {
			return fmt.Errorf("read %s: %w", table, err)
		}
	}
	return nil
}

// searchRedis reads every value of Redis in its own form.
func (h *haystack) searchRedis(ctx context.Context, env *frame.Env) error {
	opt, err := redis.ParseURL(env.Stack.RedisURL)
	if err != nil {
		return err
	}
	db := redis.NewClient(opt)
	defer func() { _ = db.Close() }()
	all := db.Scan(ctx, 0, "*", 1000).Iterator()
	for all.Next(ctx) {
		key := all.Val()
		text, err := redisText(ctx, db, key)
		if err != nil {
			return fmt.Errorf("read %s: %w", key, err)
		}
		h.search("Redis at "+key, key+" "+text)
	}
	return all.Err()
}

func redisText(ctx context.Context, db *redis.Client, key string) (string, error) {
	kind, err := db.Type(ctx, key).Result()
	if err != nil {
		return "", err
	}
	switch kind {
	case "none": // it has run out
		return "", nil
	case "string":
		text, err := db.Get(ctx, key).Result()
		if err == redis.Nil {
			return "", nil
		}
		return text, err
	case "list":
		list, err := db.LRange(ctx, key, 0, -1).Result()
		return strings.Join(list, " "), err
	case "set":
		list, err := db.SMembers(ctx, key).Result()
		return strings.Join(list, " "), err
	case "zset":
		list, err := db.ZRange(ctx, key, 0, -1).Result()
		return strings.Join(list, " "), err
	case "hash":
		all, err := db.HGetAll(ctx, key).Result()
		return fmt.Sprint(all), err
	case "stream":
		list, err := db.XRange(ctx, key, "-", "+").Result()
		return fmt.Sprint(list), err
	}
	return "", fmt.Errorf("a value of the unknown kind %s", kind)
}
