package hls

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// encoderRun is one run of an encoder, as its newest playlist describes it. The method restarted detects a new run.
type encoderRun struct {
	From, Top int64 // sequence number of the first entry, and that after the last entry; Top 0: no run
	Named     []runEntry
}

// runEntry is an entry of a run's playlist whose segment is stored.
type runEntry struct {
	Seq  int64 // media sequence number of the encoder
	Name string
	File string
}

// file returns the stored file of an entry of the run, or "" if the run has no such entry.
func (t *encoderRun) file(seq int64, name string) string {
	for _, n := range t.Named {
		if n.Seq == seq && n.Name == name {
			return n.File
		}
	}
	return ""
}

// has reports whether an entry of the run has this stored file.
func (t *encoderRun) has(file string) bool {
	return slices.ContainsFunc(t.Named, func(n runEntry) bool { return n.File == file })
}

// takeoverDelay is the time for which playlists of the previous encoder are refused after the current encoder has uploaded a
// playlist.
const takeoverDelay = 10 * time.Second

var (
	// errMissing is the error of a playlist if none of its segments is stored.
	errMissing = apperr.New(apperr.NotFound, "not_found",
		"no segment of the playlist was received; push segments before the playlist")
	// errTaken is the error of an encoder if another encoder with the same key has taken over the stream.
	errTaken = apperr.New(apperr.Conflict, "limit_reached",
		"another encoder pushes this stream with the same key; stop one of them").With("limit", 1)
	errLoop = errPlaylist.WithText("a master playlist must list playlists of segments")
)

// maxSegmentDelay is the maximum time from the upload of a playlist to the start of the upload of its newest segment. An
// encoder can use one connection for segments and another one for playlists.
const maxSegmentDelay = 500 * time.Millisecond

// await waits until the uploads of the segments that p lists are complete, but at most for the time limit within. For the
// newest segment, it also waits up to maxSegmentDelay until its upload starts.
func (s *stream) await(list string, p playlist, within time.Duration) {
	entries := p.numbered()
	timeout, late := time.NewTimer(within), time.NewTimer(maxSegmentDelay)
	defer timeout.Stop()
	defer late.Stop()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for i := 0; i < len(entries); {
		name := entries[i].name
		s.mu.Lock()
		l := s.list(list)
		done, here := s.uploading[name], s.locate(list, l, entries[i], s.restarted(l, p)) >= 0
		s.mu.Unlock()
		wait := late.C
		switch {
		case done != nil:
			wait = timeout.C
		case here || i < len(entries)-1:
			i++
			continue
		}
		select {
		case <-done: // nil, and never ready, if the segment is not being uploaded
		case <-look.C:
		case <-wait:
			return
		}
	}
}

// find returns the index of the newest segment to which the encoder gave this name, or -1 if there is none.
func (s *stream) find(name string) int {
	for i := len(s.state.Segments) - 1; i >= 0; i-- {
		if s.state.Segments[i].Name == name {
			return i
		}
	}
	return -1
}

// byFile returns the index of the segment with this stored file, or -1 if there is none.
func (s *stream) byFile(file string) int {
	return slices.IndexFunc(s.state.Segments, func(g segment) bool { return g.File == file })
}

// retry reports whether an upload whose hash is sum repeats the upload of g, a segment with the same name. Different bytes are
// not a repetition. Equal bytes are a repetition if g is the newest segment of its playlist. They are also one if no playlist
// has listed g, as for an initialization segment.
//
// Otherwise the encoder shows the same video again, and the upload is a new segment. This also applies if g belongs to the
// previous encoder.
func (s *stream) retry(g *segment, sum []byte) bool {
	if !bytes.Equal(g.Sum, sum) {
		return false
	}
	if g.Order > 0 {
		l := s.state.Lists[g.Playlist]
		return l != nil && g.Order == l.Next-1
	}
	for _, l := range s.state.Lists {
		if l.Before.has(g.File) {
			return false // the segment belongs to an encoder whose stream was taken over
		}
	}
	return true
}

// list returns the state of the playlist with this name. If the stream has no such playlist, list returns a new state without
// storing it.
func (s *stream) list(name string) *list {
	if l := s.state.Lists[name]; l != nil {
		return l
	}
	return &list{Next: 1}
}

// apply applies an uploaded playlist and writes the playlist that is served. The served playlist contains the newest segments
// that are stored without a gap. The media sequence of the served playlist never decreases. Errors: errMissing if there is no
// segment to serve or the uploaded playlist is outdated, errTaken for a playlist of the previous encoder, and errLoop (see
// applyMaster).
func (s *stream) apply(name string, p playlist, now time.Time, keep time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.list(name)
	if len(p.variants) > 0 {
		return s.applyMaster(name, l, p, now)
	}
	if s.stale(l, p) {
		if !l.Over && now.Sub(l.At) < takeoverDelay {
			l.Before = s.newRun(p)
			return errors.Join(errTaken, s.save())
		}
		l.Before = encoderRun{}
	}
	restarted := s.restarted(l, p)
	entries, run := s.available(name, l, p, restarted)
	if len(run) == 0 || restarted && s.outdated(l, p, len(run)) {
		return errMissing
	}
	s.assignOrder(name, l, entries, run)
	// Segments before a gap in the order belong to an earlier run of the encoder.
	for i := len(run) - 1; i > 0; i-- {
		if s.state.Segments[run[i]].Order != s.state.Segments[run[i-1]].Order+1 {
			run = run[i:]
			break
		}
	}
	run = slices.DeleteFunc(run, func(at int) bool { return s.state.Segments[at].Order < l.Floor })
	if len(run) == 0 {
		return errMissing
	}
	if restarted {
		l.Before = l.Turn
	}
	shown := make([]segment, len(run))
	l.Files, l.At, l.First, l.Over = nil, now, "", p.ended
	for i, at := range run {
		shown[i] = s.state.Segments[at]
		l.Files = append(l.Files, shown[i].File)
	}
	l.Turn = s.runOf(p, entries, run)
	l.Floor, s.state.Lists[name] = shown[0].Order, l
	// ENDLIST is not served. Players would stop permanently, but the next encoder may already have started.
	h := head{target: p.target, sequence: shown[0].Order, breaks: shown[0].Breaks, independent: p.independent}
	if shown[0].Cut {
		h.breaks--
	}
	return errors.Join(s.write(name, writePlaylist(h, shown)), s.evict(now, keep), s.save())
}

// applyMaster applies an uploaded master playlist. It returns errLoop if a rendition is a master playlist or if another master
// playlist lists this one, because players could loop.
func (s *stream) applyMaster(name string, l *list, p playlist, now time.Time) error {
	for _, v := range p.variants {
		if of := s.state.Lists[v.name]; v.name == name || of != nil && of.First != "" {
			return errLoop
		}
	}
	for other, m := range s.state.Lists {
		if other != name && m.First != "" && slices.Contains(m.Files, name) {
			return errLoop
		}
	}
	if err := s.root.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	l.At, l.First, l.Files = now, p.variants[0].name, nil
	for _, v := range p.variants {
		l.Files = append(l.Files, v.name)
	}
	s.state.Lists[name] = l
	return errors.Join(s.write(name, writeMaster(p.variants)), s.save())
}

// newRun returns the run that playlist p starts. A name in p refers to the newest stored segment with that name.
func (s *stream) newRun(p playlist) encoderRun {
	t := encoderRun{From: p.sequence, Top: p.sequence + int64(len(p.entries))}
	for _, e := range p.numbered() {
		if at := s.find(e.name); at >= 0 {
			t.Named = append(t.Named, runEntry{e.seq, e.name, s.state.Segments[at].File})
		}
	}
	return t
}

// runOf returns the run that playlist p describes. The parameter run contains the indexes of stored segments. They belong to
// the last len(run) elements of entries. The result omits the other elements.
func (s *stream) runOf(p playlist, entries []entry, run []int) encoderRun {
	t := encoderRun{From: p.sequence, Top: p.sequence + int64(len(p.entries))}
	skip := len(entries) - len(run)
	for i, at := range run {
		e := entries[skip+i]
		t.Named = append(t.Named, runEntry{e.seq, e.name, s.state.Segments[at].File})
	}
	return t
}

// stale reports whether playlist p comes from the previous encoder. This is the case if more segments in p belong to the run
// of the previous encoder than to the current run.
func (s *stream) stale(l *list, p playlist) bool {
	before, shown := 0, 0
	for _, e := range p.numbered() {
		at := s.find(e.name)
		if at < 0 {
			continue
		}
		switch s.state.Segments[at].File {
		case l.Turn.file(e.seq, e.name):
			shown++
		case l.Before.file(e.seq, e.name):
			before++
		}
	}
	return before > shown
}

// restarted reports whether playlist p starts a new run of the encoder. This is the case if its first or last sequence number
// decreased, if a listed entry changed, or if p has no entry of the current run. Without a current run, restarted returns false.
func (s *stream) restarted(l *list, p playlist) bool {
	t := &l.Turn
	if t.Top == 0 {
		return false
	}
	if p.sequence < t.From || p.sequence+int64(len(p.entries)) < t.Top {
		return true
	}
	met := false
	for _, n := range t.Named {
		i := n.Seq - p.sequence
		if i < 0 || i >= int64(len(p.entries)) {
			continue
		}
		met = true
		if p.entries[i].name != n.Name {
			return true
		}
		old, at := s.byFile(n.File), s.find(n.Name)
		if old >= 0 && !bytes.Equal(s.state.Segments[old].Sum, s.state.Segments[at].Sum) {
			return true
		}
	}
	return !met
}

// outdated reports whether playlist p is an older playlist of the current run that arrived late, rather than the start of a
// new run. This is the case if p lists more segments of the current run than new segments. fresh is the number of new
// segments.
func (s *stream) outdated(l *list, p playlist, fresh int) bool {
	old := 0
	for _, e := range p.numbered() {
		if at := s.find(e.name); at >= 0 && s.state.Segments[at].File == l.Turn.file(e.seq, e.name) {
			old++
		}
	}
	return old > fresh
}

// locate returns the index of the stored segment of an entry, or -1 if it is not stored. For an entry of the current run, it
// returns the segment of that run, unless restarted is true. For any other entry, it returns only a segment that was not
// listed before.
func (s *stream) locate(name string, l *list, e entry, restarted bool) int {
	if !restarted {
		if file := l.Turn.file(e.seq, e.name); file != "" {
			return s.byFile(file)
		}
	}
	at := s.find(e.name)
	if at < 0 {
		return -1
	}
	g := &s.state.Segments[at]
	// A list that an older release has stored has no run.
	if g.Order == 0 || g.Playlist == name && l.Turn.Top == 0 {
		return at
	}
	return -1
}

// available returns the newest entries of p whose segments are stored without a gap, and the indexes of these segments.
func (s *stream) available(name string, l *list, p playlist, restarted bool) ([]entry, []int) {
	all := p.numbered()
	end := len(all)
	for end > 0 && s.locate(name, l, all[end-1], restarted) < 0 {
		end--
	}
	var places []int
	begin, known := end, false
	for begin > 0 {
		e := all[begin-1]
		at := s.locate(name, l, e, restarted)
		if at < 0 || e.init != "" && s.find(e.init) < 0 {
			break
		}
		if known && s.state.Segments[at].Order == 0 {
			break // the segment arrived after later segments were served
		}
		known = known || s.state.Segments[at].Order > 0
		places = append(places, at)
		begin--
	}
	slices.Reverse(places)
	return all[begin:end], places
}

// numbered returns a copy of the entries, with their media sequence numbers set.
func (p *playlist) numbered() []entry {
	all := slices.Clone(p.entries)
	for i := range all {
		all[i].seq = p.sequence + int64(i)
	}
	return all
}

// assignOrder assigns an order to segments that are listed for the first time. If no segment of the playlist was listed before,
// the encoder was restarted or segments are missing, so assignOrder inserts a discontinuity.
func (s *stream) assignOrder(name string, l *list, entries []entry, run []int) {
	known := slices.ContainsFunc(run, func(at int) bool { return s.state.Segments[at].Order > 0 })
	for i, at := range run {
		g := &s.state.Segments[at]
		if g.Order > 0 {
			continue
		}
		e := entries[i]
		g.Playlist, g.Order, g.Seconds = name, l.Next, g.length(e.seconds)
		g.Cut = (e.cut || !known) && l.Next > 1
		if e.init != "" {
			g.Init = s.state.Segments[s.find(e.init)].File
		}
		if g.Cut {
			l.Breaks++
		}
		g.Breaks, known = l.Breaks, true
		l.Next++
	}
}
