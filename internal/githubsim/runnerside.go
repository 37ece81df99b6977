package githubsim

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// The runner's side over HTTP. The real protocol is not public and changes with the runner; this one
// only carries the hub's calls. Secrets travel in headers and bodies, never in a path.

type wireRegister struct {
	Token string `json:"token"`
	RegisterRequest
}

type wireRegistered struct {
	RunnerID int64  `json:"runnerId"`
	Secret   string `json:"secret"`
}

type wireRemove struct {
	Token    string `json:"token"`
	RunnerID int64  `json:"runnerId"`
}

type wireConnect struct {
	RunnerID int64 `json:"runnerId"`
}

type wireSession struct {
	Session string `json:"session"`
}

type wireAcquire struct {
	Job string `json:"job"`
}

type wireComplete struct {
	Job        string     `json:"job"`
	Conclusion Conclusion `json:"conclusion"`
}

type wireAnnotate struct {
	Job  string `json:"job"`
	Text string `json:"text"`
}

func (s *server) runner() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /register", taking(s.register))
	mux.HandleFunc("POST /remove", taking(s.removeRunner))
	mux.HandleFunc("POST /session", taking(s.connect))
	mux.HandleFunc("DELETE /session", s.closeSession)
	mux.HandleFunc("GET /message", s.nextMessage)
	mux.HandleFunc("POST /acquire", taking(s.acquire))
	mux.HandleFunc("POST /complete", taking(s.complete))
	mux.HandleFunc("POST /logs", s.takeLog)
	mux.HandleFunc("POST /annotate", taking(s.annotate))
	mux.HandleFunc("/", notFound)
	return mux
}

func (s *server) register(w http.ResponseWriter, r *http.Request, q wireRegister) {
	cred, err := s.hub.Register(r.Context(), q.Token, q.RegisterRequest)
	s.answer(w, CallRegister, http.StatusCreated, wireRegistered{RunnerID: cred.RunnerID, Secret: cred.Secret}, err)
}

func (s *server) removeRunner(w http.ResponseWriter, r *http.Request, q wireRemove) {
	err := s.hub.Unregister(r.Context(), q.Token, q.RunnerID)
	s.answer(w, CallRemove, http.StatusOK, struct{}{}, err)
}

func (s *server) connect(w http.ResponseWriter, r *http.Request, q wireConnect) {
	session, err := s.hub.Connect(r.Context(), Credentials{RunnerID: q.RunnerID, Secret: bearer(r)})
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, http.StatusCreated, wireSession{Session: session.id})
}

// session returns the handle of an open or past session, whose id is a request's credential.
func (s *server) session(r *http.Request) *Session { return &Session{hub: s.hub, id: bearer(r)} }

func (s *server) closeSession(w http.ResponseWriter, r *http.Request) {
	s.session(r).Close()
	w.WriteHeader(http.StatusNoContent)
}

func (s *server) nextMessage(w http.ResponseWriter, r *http.Request) {
	seen, err := strconv.ParseInt(r.URL.Query().Get("seen"), 10, 64)
	if err != nil {
		writeError(w, fmt.Errorf("seen: not a number: %w", ErrInvalid))
		return
	}
	m, err := s.session(r).Next(r.Context(), seen)
	s.answer(w, CallPoll, http.StatusOK, m, err)
}

func (s *server) acquire(w http.ResponseWriter, r *http.Request, q wireAcquire) {
	err := s.session(r).Acquire(r.Context(), q.Job)
	s.answer(w, CallAcquire, http.StatusOK, struct{}{}, err)
}

// takeLog takes the log of a job, which is the request's body, as far as it goes.
func (s *server) takeLog(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err == nil {
		err = s.session(r).Upload(r.Context(), string(raw))
	}
	s.answer(w, CallLogs, http.StatusOK, struct{}{}, err)
}

func (s *server) complete(w http.ResponseWriter, r *http.Request, q wireComplete) {
	err := s.session(r).Complete(r.Context(), q.Job, q.Conclusion)
	s.answer(w, CallComplete, http.StatusOK, struct{}{}, err)
}

func (s *server) annotate(w http.ResponseWriter, r *http.Request, q wireAnnotate) {
	if err := s.session(r).Annotate(q.Job, q.Text); err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, struct{}{})
}
