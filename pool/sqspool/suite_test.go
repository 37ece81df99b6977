package sqspool_test

import (
	"context"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/pool/pooltest"
	"github.com/remuda-run/remuda/pool/sqspool"
)

func TestPool_Moto(t *testing.T)      { pooltest.Run(t, factory(awstest.Moto)) }
func TestPool_ElasticMQ(t *testing.T) { pooltest.Run(t, factory(awstest.ElasticMQ)) }

// Not on moto: for each message received it copies all that the queue holds (of 300, ten take 0.9 s).
func BenchmarkPool(b *testing.B) { pooltest.Bench(b, factory(awstest.ElasticMQ)) }

func factory(start func(testing.TB) string) pooltest.Factory {
	return func(tb testing.TB) pooltest.Backend {
		s := connect(tb, start)
		return pooltest.Backend{
			Open:   func(context.Context) (pool.Pool, error) { return s.open(tb, nil), nil },
			Inject: s.inject,
		}
	}
}

// unsendable are bodies that SQS refuses to take (SQS API, SendMessage), so that no stranger can leave
// them in a queue.
var unsendable = []string{"", "\x00"}

// inject adds a message with any body to the queue of class, as a stranger could.
func (s *service) inject(ctx context.Context, class, body string) error {
	out, err := s.raw.CreateQueue(ctx, &sqs.CreateQueueInput{
		QueueName: aws.String(sqspool.QueueName(s.prefix, class)), Attributes: sqspool.Wanted(),
	})
	if err != nil {
		return err
	}
	_, err = s.raw.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: out.QueueUrl, MessageBody: &body})
	if slices.Contains(unsendable, body) && awserr.ClassOf(err) == awserr.Invalid {
		return nil
	}
	return err
}
