package bench_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/bench"
	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/dynamostore"
)

// lineSizes are how many requests BenchmarkLine lets wait, and lineServed on how many machines it serves them.
var lineSizes = []int{10, 100, 1000, 3000}

const (
	lineServed = 50
	lineRest   = time.Minute      // the window in which nothing happens
	lineLimit  = 10 * time.Minute // a case that takes longer has not finished
)

// BenchmarkLine lets requests of one seat wait because the cap on instances is reached. rest: what the controller,
// and one agent, use of the processor in a minute in which nothing happens but that the clients say that they wait.
// serve: 50 machines are given back at once, and so is each request as soon as it is Ready; how long until all were
// served, how long a pooled machine waits for its next request, and how many younger ones came before an older one.
// The clients are a process of their own.
func BenchmarkLine(b *testing.B) {
	for _, n := range lineSizes {
		b.Run(fmt.Sprintf("rest/requests=%d", n), func(b *testing.B) { lineAtRest(b, n, nil) })
	}
	b.Run("rest/store=dynamodb/requests=1000", func(b *testing.B) { lineAtRest(b, 1000, newDynamo(b)) })
	for _, n := range lineSizes {
		b.Run(fmt.Sprintf("serve/requests=%d", n), func(b *testing.B) { lineServe(b, n, nil) })
	}
	b.Run("serve/store=dynamodb/requests=1000", func(b *testing.B) { lineServe(b, 1000, newDynamo(b)) })
}

// holder is the request that holds every machine.
const holder = "holder"

// line opens a world in which n requests wait for room; those that do not within lineLimit end the benchmark.
func line(b *testing.B, n, room int, d *dynamo) (context.Context, *bench.World) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), lineLimit)
	b.Cleanup(cancel)
	o := bench.Options{Dir: b.TempDir(), Tune: func(c *reconciler.Config) { c.MaxInstances = room }}
	if d != nil {
		o.Backends = &bench.Backends{Table: d.table, Fleet: fleettest.NewMemory(clock.RealClock{})}
		d.export(b)
	}
	w := run(b, o)
	if _, err := w.Start(ctx, holder, room); err != nil {
		b.Fatal(err)
	}
	spawn(b, "clients", o.Dir, n)
	for i := range n {
		if _, err := w.Journal.Phase(ctx, lineID(i), statemachine.Pending); err != nil {
			b.Fatalf("not all in line after %s: %v", lineLimit, err)
		}
	}
	return ctx, w
}

func lineID(i int) store.RequestID { return store.RequestID(fmt.Sprintf("w%05d", i)) }

func lineAtRest(b *testing.B, n int, d *dynamo) {
	_, w := line(b, n, 1, d)
	time.Sleep(2 * settled)
	for b.Loop() {
		before, asked, began := cpu(), w.ByController.Usage(), time.Now()
		time.Sleep(lineRest)
		minutes := time.Since(began).Minutes()
		used := w.ByController.Usage().Since(asked)
		none(b)
		b.ReportMetric((cpu()-before).Seconds()/minutes, "cpu-s/min")
		b.ReportMetric(float64(used.Items)/minutes, "items-read/min")
		b.ReportMetric(float64(used.Writes())/minutes, "writes/min")
	}
}

func lineServe(b *testing.B, n int, d *dynamo) {
	ctx, w := line(b, n, lineServed, d)
	var served sync.WaitGroup
	served.Add(n)
	w.Journal.OnPhase(func(id store.RequestID, p statemachine.Phase) {
		if p != statemachine.Ready || id == holder {
			return
		}
		go func() {
			defer served.Done()
			if _, err := w.Client.Release(ctx, id, 1, store.ReleaseDrain); err != nil {
				b.Error(err)
			}
		}()
	})
	for b.Loop() {
		before, began := cpu(), time.Now()
		if _, err := w.Client.Release(ctx, holder, 1, store.ReleaseDrain); err != nil {
			b.Fatal(err)
		}
		all := make(chan struct{})
		go func() {
			served.Wait()
			close(all)
		}()
		none(b)
		select {
		case <-all:
			b.ReportMetric(time.Since(began).Seconds(), "serve-s")
		case <-ctx.Done():
			b.Errorf("not all served after %s", lineLimit)
		}
		b.ReportMetric((cpu() - before).Seconds(), "serve-cpu-s")
		waits, overtaken := w.Journal.Claims()
		b.ReportMetric(float64(len(waits)), "claims")
		b.ReportMetric(float64(overtaken), "overtaken-by")
		if len(waits) > 0 {
			report(b, "machine-waits", waits)
		}
	}
}

// waitingClients submits n requests, one after the other, and says every 5 s, as `remuda request` does, that their
// clients wait.
func waitingClients(ctx context.Context, s *store.Store, n int) error {
	for i := range n {
		if _, err := s.Submit(ctx, bench.Spec(string(lineID(i)), 1)); err != nil {
			return err
		}
	}
	const period = 5 * time.Second
	for began, done := time.Now(), 0; ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		for due := int(time.Since(began).Seconds() / period.Seconds() * float64(n)); done < due; done++ {
			if err := s.Seen(ctx, lineID(done%n), 1, time.Now()); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
	return nil
}

// dynamo is a table in DynamoDB Local, with notifications over moto's SQS. Nothing is counted: it would cost what is measured.
type dynamo struct{ endpoint, queues, name string }

// newDynamo makes a table.
func newDynamo(b *testing.B) *dynamo {
	b.Helper()
	leftOut(b)
	d := &dynamo{awstest.DynamoDBLocal(b), awstest.Moto(b), awstest.Name(b)}
	table, err := d.table(b.Context(), bench.Controller)
	check(b, err)
	defer table.Close()
	if _, err := table.(*dynamostore.Table).Ensure(b.Context(), true); err != nil {
		b.Fatal(err)
	}
	return d
}

// dynamoEnv tells a child process of a dynamo.
const dynamoEnv = "REMUDA_BENCH_DYNAMO"

func (d *dynamo) export(b *testing.B) {
	b.Setenv(dynamoEnv, strings.Join([]string{d.endpoint, d.queues, d.name}, " "))
}

// exported returns the dynamo that this process was told of; nil: none.
func exported() *dynamo {
	f := strings.Fields(os.Getenv(dynamoEnv))
	if len(f) != 3 {
		return nil
	}
	return &dynamo{f[0], f[1], f[2]}
}

func (d *dynamo) table(ctx context.Context, _ bench.Who) (store.Table, error) {
	return dynamostore.Open(ctx, &url.URL{Scheme: "dynamodb", Host: d.name}, awsConfig(d.endpoint, d), clock.RealClock{}, slog.New(slog.DiscardHandler))
}

var dynamoWeb = &http.Transport{MaxIdleConnsPerHost: 128} // as package awscfg has it

// RoundTrip sends notifications to the queues and everything else to the table: one configuration, two services.
func (d *dynamo) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.Contains(req.Header.Get("X-Amz-Target"), "SQS") {
		return dynamoWeb.RoundTrip(req)
	}
	out := req.Clone(req.Context())
	out.URL.Host = strings.TrimPrefix(d.queues, "http://")
	out.Host = out.URL.Host
	return dynamoWeb.RoundTrip(out)
}
