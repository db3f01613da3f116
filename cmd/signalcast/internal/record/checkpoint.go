package record

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// journalOrigin names the journal of a ledger in its checkpoints.
const journalOrigin = "signalcast.ledger"

// checkCheckpoint looks whether a text has the form of a signed root (C2SP
// tlog-checkpoint), and, with a key, whether that has signed it.
func checkCheckpoint(text *string, key note.Verifier, d *differences) {
	if text == nil {
		d.that(key == nil, "checkpoint", plain("null"), "one that the key has signed")
		return
	}
	var known note.Verifiers = note.VerifierList()
	if key != nil {
		known = note.VerifierList(key)
	}
	n, err := note.Open([]byte(*text), known)
	if unknown := (*note.UnverifiedNoteError)(nil); errors.As(err, &unknown) {
		d.that(key == nil, "checkpoint", *text, "signed by the key")
		n, err = unknown.Note, nil
	}
	if err != nil {
		d.add("checkpoint", *text, "a checkpoint that is signed")
		return
	}
	lines := strings.Split(n.Text, "\n")
	ok := len(lines) == 4 && lines[0] == journalOrigin && lines[3] == ""
	if ok {
		size, err := strconv.ParseInt(lines[1], 10, 64)
		root, wrong := base64.StdEncoding.DecodeString(lines[2])
		ok = err == nil && wrong == nil && size >= 0 && strconv.FormatInt(size, 10) == lines[1] && len(root) == sha256.Size
	}
	d.that(ok, "checkpoint", *text, "name, size and root of the journal")
}
