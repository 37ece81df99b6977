package dynamostore

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/remuda-run/remuda/store"
)

// maxWire bounds a foreign item as DynamoDB sends it, in bytes of JSON. DynamoDB adds the type to each list element, so a request of 400
// patterns is at most twice as long.
const maxWire = 2 * store.MaxForeign

// maxAttributes is more than any record has. Of an item with a hundred thousand small attributes no more are kept.
const maxAttributes = 64

// maxProse bounds an answer that is not JSON, for example from a proxy, in bytes.
const maxProse = 64 << 10

// answer reads the items of the answer to one call, and passes the rest of the answer to the SDK. The SDK would make an object of each
// list element of a whole page first. For a page of short texts these objects take 100 times the size of the page.
type answer struct{ items []store.Item }

// into is an option of a call.
func (a *answer) into(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Deserialize.Insert(middleware.DeserializeMiddlewareFunc("Items", a.take), "OperationDeserializer", middleware.After)
	})
}

func (a *answer) take(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error,
) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	resp, ok := out.RawResponse.(*smithyhttp.Response)
	if err != nil || !ok {
		return out, metadata, err
	}
	rest, err := a.read(resp.Body)
	if err != nil {
		err = &smithy.DeserializationError{Err: err}
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{bytes.NewReader(rest), resp.Body}
	return out, metadata, err
}

// read returns the JSON of an answer without its items.
func (a *answer) read(body io.Reader) ([]byte, error) {
	s := scanner{bufio.NewReaderSize(body, 64<<10)}
	if first, err := s.Peek(1); err != nil || first[0] != '{' {
		return io.ReadAll(io.LimitReader(s, maxProse)) // the SDK reports the error
	}
	rest := []byte("{")
	item := func() error {
		item, err := s.item()
		a.items = append(a.items, item)
		return err
	}
	items := func(string) error { return s.each('[', item) }
	err := s.members(func(name string) error {
		switch name {
		case "Item":
			return item()
		case "Items":
			return items(name)
		case "Responses":
			return s.members(items)
		}
		raw, _, err := s.value(math.MaxInt)
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = fmt.Appendf(rest, "%q:%s", name, raw)
		return err
	})
	if err == nil {
		_, err = io.Copy(io.Discard, s)
	}
	return append(rest, '}'), err
}

// scanner reads JSON value by value. It accepts some invalid JSON. Package json checks every value before its use.
type scanner struct{ *bufio.Reader }

// item reads one item. It keeps at most maxWire bytes of an attribute that a workflow or an instance can write.
func (s scanner) item() (store.Item, error) {
	in, size := wireItem{}, 0
	err := s.members(func(name string) error {
		own, most := store.OwnAttribute(name), maxWire
		if own {
			most = math.MaxInt
		}
		raw, n, err := s.value(most)
		size += len(name) + n
		if len(in) >= maxAttributes && !own && !slices.Contains(reserved, name) {
			return err
		}
		if raw != nil && err == nil {
			var compact bytes.Buffer
			err = json.Compact(&compact, raw)
			raw = compact.Bytes()
		}
		in[name] = raw
		return err
	})
	if err != nil {
		return store.Item{}, err
	}
	return in.decode(size), nil
}

// longName stands for a name that is not kept. It makes its item too large.
var longName = strings.Repeat("?", maxWire+1)

// members calls f with the name of each member of an object. f reads the value.
func (s scanner) members(f func(name string) error) error {
	return s.each('{', func() error {
		raw, _, err := s.value(maxWire)
		if err != nil {
			return err
		}
		name := longName
		if raw != nil {
			if err := json.Unmarshal(raw, &name); err != nil {
				return fmt.Errorf("name of a member: %w", err)
			}
		}
		if c, err := s.next(); err != nil || c != ':' {
			return errors.Join(fmt.Errorf("member %.40q: want a colon, got %q", name, c), err)
		}
		return f(name)
	})
}

// each calls f for each element of an array or object, which begins with open. f reads the element.
func (s scanner) each(open byte, f func() error) error {
	c, err := s.next()
	if err == nil && c != open {
		err = fmt.Errorf("want %q, got %q", open, c)
	}
	for err == nil {
		switch c, err = s.next(); {
		case err != nil || c == ',':
			continue
		case c == open+2: // ']' and '}'
			return nil
		}
		if err = s.UnreadByte(); err == nil {
			err = f()
		}
	}
	return err
}

// next returns the next byte that is no white space.
func (s scanner) next() (byte, error) {
	for {
		c, err := s.ReadByte()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil || !space(c) {
			return c, err
		}
	}
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// value reads a value of any type and returns its size. If the value is longer than most bytes, raw is nil.
func (s scanner) value(most int) (raw []byte, size int, err error) {
	depth, quoted, escaped, done := 0, false, false, false
	for !done {
		if _, err := s.Peek(1); err != nil {
			return nil, size, errors.Join(io.ErrUnexpectedEOF, err)
		}
		window, _ := s.Peek(s.Buffered())
		n := 0
		for ; n < len(window) && !done; n++ {
			switch c := window[n]; {
			case escaped:
				escaped = false
			case quoted:
				escaped, quoted = c == '\\', c != '"'
				done = !quoted && depth == 0
			case c == '"':
				quoted = true
			case c == '{' || c == '[':
				depth++
			case depth == 0 && (c == ',' || c == '}' || c == ']'): // after a number, say
				done = true
				n--
			case c == '}' || c == ']':
				depth--
				done = depth == 0
			}
		}
		if size += n; size <= most {
			raw = append(raw, window[:n]...)
		} else {
			raw = nil
		}
		if _, err := s.Discard(n); err != nil {
			return nil, size, err
		}
	}
	return raw, size, nil
}
