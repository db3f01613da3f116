package reads

import (
	"archive/zip"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/signalcast/signalcast/pkg/httpx"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/pkg/ratelimit"
	exportv1 "github.com/signalcast/signalcast/proto/export/v1"
	"github.com/signalcast/signalcast/services/hub/internal/account"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

//go:embed archive.txt
var archiveReadme string

// LedgerSections lists the sections of rows that the ledger stores about an account besides its calls.
var LedgerSections = []string{
	"account", "api_keys", "unconfirmed_calls", "request_keys", "webhooks", "webhook_deliveries", "stations", "created_markets",
	"proposed_outcomes", "account_changes", "former_handles", "notices",
}

// Archive streams everything that is stored about an operator as a ZIP archive. It has one page of rows in memory. Error:
// rate_limited if too many exports are in progress.
func (s *Server) Archive(c echo.Context, me operator.Operator) error {
	release, err := s.exports.acquire(ratelimit.AddressKey(c.RealIP()))
	if err != nil {
		return err
	}
	defer release()
	h := c.Response().Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", `attachment; filename="signalcast-`+string(me.Handle)+`.zip"`)
	h.Set("X-Accel-Buffering", "no")
	if c.Request().Method == http.MethodHead {
		return c.NoContent(http.StatusOK)
	}
	if err = s.writeArchive(c.Request().Context(), deadlineWriter{c.Response()}, me); err != nil {
		// Abort the connection, so that the client does not take the incomplete archive for a complete one.
		if c.Request().Context().Err() == nil {
			s.Log.Warn("account export failed", "handle", string(me.Handle), "error", err)
		}
		panic(http.ErrAbortHandler)
	}
	return nil
}

// deadlineWriter gives each write of a long answer exportWriteTimeout.
type deadlineWriter struct{ http.ResponseWriter }

// Write implements io.Writer.
func (w deadlineWriter) Write(p []byte) (int, error) {
	if err := httpx.SetWriteTimeout(w.ResponseWriter, exportWriteTimeout); err != nil {
		return 0, err
	}
	return w.ResponseWriter.Write(p)
}

// archive is a ZIP archive whose files have the time of the export.
type archive struct {
	*zip.Writer
	at time.Time
}

// add starts a file.
func (z archive) add(name string) (io.Writer, error) {
	return z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: z.at})
}

// writeArchive writes the archive of an operator. Each section is a file with JSON lines and a file with CSV.
func (s *Server) writeArchive(ctx context.Context, to io.Writer, me operator.Operator) error {
	z := archive{zip.NewWriter(to), s.Now()}
	f, err := z.add("README.txt")
	if err == nil {
		_, err = io.WriteString(f, strings.ReplaceAll(archiveReadme, "{handle}", string(me.Handle)))
	}
	if err != nil {
		return err
	}
	for name, form := range map[string]recordWriter{"calls.jsonl": newJSONLines(s.HubURL), "calls.csv": &csvRecord{}} {
		if f, err = z.add(name); err != nil {
			return err
		}
		if err := s.writeCalls(ctx, f, string(me.Handle), form); err != nil {
			return err
		}
	}
	for _, section := range LedgerSections {
		err := writeSection(z, section, func(after string) (rows []account.Row, err error) {
			r, err := s.Ledger.Exports.ListPersonalRows(ctx, &exportv1.ListPersonalRowsRequest{
				OperatorId: string(me.ID), Section: section, After: after,
			})
			for _, row := range r.GetRows() {
				rows = append(rows, account.Row{Key: row.GetKey(), JSON: row.GetJson()})
			}
			return rows, err
		})
		if err != nil {
			return err
		}
	}
	for _, section := range account.Sections {
		err := writeSection(z, section, func(after string) ([]account.Row, error) {
			return s.Accounts.ListRows(ctx, me.ID, me.Handle, section, after)
		})
		if err != nil {
			return err
		}
	}
	err = writeSection(z, "email", func(after string) ([]account.Row, error) {
		if after != "" {
			return nil, nil
		}
		return s.emailRows(ctx, me.ID)
	})
	if err != nil {
		return err
	}
	jpeg, err := s.Pictures.Stored(ctx, me.ID)
	if err == nil && jpeg != nil {
		if f, err = z.add("picture.jpg"); err == nil {
			_, err = f.Write(jpeg)
		}
	}
	if err != nil {
		return err
	}
	return z.Close()
}

// emailRows returns the decrypted addresses of an account: that of the settings, with them, the one that waits to replace it, and those
// of the sign-ins.
func (s *Server) emailRows(ctx context.Context, me operator.ID) (rows []account.Row, err error) {
	set, err := s.Email.Settings(ctx, me)
	if err != nil {
		return nil, err
	}
	signIns, err := s.Email.SignInAddresses(ctx, me)
	if err != nil {
		return nil, err
	}
	var list []map[string]any
	if set.Digest != "" {
		list = append(list, map[string]any{
			"address": s.Email.Address(me, set.Sealed), "confirmedAt": protocol.StampOrNull(set.ConfirmedAt), "digest": set.Digest,
			"bouncedAt": protocol.StampOrNull(set.BouncedAt), "session": nil,
		})
	}
	if set.Pending != "" {
		list = append(list, map[string]any{
			"address": s.Email.Address(me, set.Pending), "confirmedAt": nil, "digest": nil, "bouncedAt": nil, "session": nil,
		})
	}
	for _, one := range signIns {
		list = append(list, map[string]any{
			"address": s.Email.Address(me, one.Sealed), "confirmedAt": nil, "digest": nil, "bouncedAt": nil,
			"session": protocol.Stamp(one.Session),
		})
	}
	for i, members := range list {
		row, err := json.Marshal(members)
		if err != nil {
			return nil, err
		}
		rows = append(rows, account.Row{Key: strconv.Itoa(i), JSON: string(row)})
	}
	return rows, nil
}

// writeCalls writes the record of an operator in one format.
func (s *Server) writeCalls(ctx context.Context, w io.Writer, handle string, form recordWriter) error {
	var b bytes.Buffer
	return s.Ledger.ReadRecord(ctx, handle, func(m *exportv1.RecordResponse) (err error) {
		if m.GetHead() != nil {
			err = form.head(&b, m.GetHead())
		}
		for _, c := range m.GetCalls() {
			err = errors.Join(err, form.call(&b, c))
		}
		if err == nil && m.GetEnd() != nil {
			err = form.end(&b, m.GetEnd())
		}
		if err == nil {
			_, err = b.WriteTo(w)
		}
		return err
	})
}

// writeSection writes the rows of a section as JSON lines and, with a second read, as CSV. A section without rows has no files.
func writeSection(z archive, name string, read func(after string) ([]account.Row, error)) error {
	for ending, add := range map[string]func(b *bytes.Buffer, row account.Row, first bool) error{
		".jsonl": func(b *bytes.Buffer, row account.Row, _ bool) error {
			b.WriteString(row.JSON + "\n")
			return nil
		},
		".csv": addCSV,
	} {
		rows, err := read("")
		if err != nil || len(rows) == 0 {
			return err
		}
		f, err := z.add(name + ending)
		if err != nil {
			return err
		}
		for first := true; len(rows) > 0; first = false {
			var b bytes.Buffer
			for i, row := range rows {
				if err := add(&b, row, first && i == 0); err != nil {
					return err
				}
			}
			if _, err := b.WriteTo(f); err != nil {
				return err
			}
			if rows, err = read(rows[len(rows)-1].Key); err != nil {
				return err
			}
		}
	}
	return nil
}

// addCSV adds a row as CSV, after a row with the names of its members if it is the first.
func addCSV(b *bytes.Buffer, row account.Row, first bool) error {
	var names, cells []string
	d := json.NewDecoder(strings.NewReader(row.JSON))
	_, err := d.Token()
	for err == nil && d.More() {
		var value json.RawMessage
		name, _ := d.Token()
		err = d.Decode(&value)
		names, cells = append(names, name.(string)), append(cells, cell(value)) //nolint:forcetypeassert // a member begins with its name
	}
	if err == nil && first {
		err = csvRow(b, names)
	}
	if err == nil {
		err = csvRow(b, cells)
	}
	return err
}
