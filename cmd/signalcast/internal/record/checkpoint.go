package record

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// journalOrigin is the first line of each checkpoint of a journal. It is the name of the log (C2SP tlog-checkpoint).
const journalOrigin = "signalcast.ledger"

// checkCheckpoint reports a difference if text is not a checkpoint of a journal (C2SP tlog-checkpoint). If key is not nil,
// text must not be nil, and key must have signed it. If key is nil, text may be nil, and the signature is not checked.
func checkCheckpoint(text *string, key note.Verifier, d *differences) {
	if text == nil {
		d.require(key == nil, "checkpoint", plain("null"), "a checkpoint that the key signed")
		return
	}
	var known note.Verifiers = note.VerifierList()
	if key != nil {
		known = note.VerifierList(key)
	}
	n, err := note.Open([]byte(*text), known)
	if unknown := (*note.UnverifiedNoteError)(nil); errors.As(err, &unknown) {
		d.require(key == nil, "checkpoint", *text, "signed by the key")
		n, err = unknown.Note, nil
	}
	if err != nil {
		d.add("checkpoint", *text, "a signed checkpoint")
		return
	}
	lines := strings.Split(n.Text, "\n")
	ok := len(lines) == 4 && lines[0] == journalOrigin && lines[3] == ""
	if ok {
		size, err := strconv.ParseInt(lines[1], 10, 64)
		root, wrong := base64.StdEncoding.DecodeString(lines[2])
		ok = err == nil && wrong == nil && size >= 0 && strconv.FormatInt(size, 10) == lines[1] && len(root) == sha256.Size
	}
	d.require(ok, "checkpoint", *text, "name, size and root of the journal")
}
