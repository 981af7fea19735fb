// The protocol in a simulator of your own: OMNeT++, ns-3 or this one, which has the parts that all of them have: a
// virtual clock and a queue of events. `Node` is what a module of such a simulator would be.
//
//     c++ -std=c++11 virtual_clock.cc $(pkg-config --cflags --libs anabranch) -o virtual_clock && ./virtual_clock
#include <anabranch/anabranch.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

// The simulator: cSimulation of OMNeT++, Simulator of ns-3.
class Simulator {
public:
    using Handle = std::pair<int64_t, uint64_t>;  // time, and the order of those that are due together

    int64_t now() const { return now_; }  // ns
    Handle schedule(int64_t at, std::function<void()> event) {
        Handle handle{at < now_ ? now_ : at, next_++};
        events_[handle] = std::move(event);
        return handle;
    }
    void cancel(Handle handle) { events_.erase(handle); }
    void run(int64_t until) {
        while (!events_.empty() && events_.begin()->first.first <= until) {
            now_ = events_.begin()->first.first;
            auto event = std::move(events_.begin()->second);
            events_.erase(events_.begin());
            event();
        }
        now_ = until;
    }

private:
    int64_t now_ = 0;
    uint64_t next_ = 0;
    std::map<Handle, std::function<void()>> events_;
};

struct Packet {
    anb_route route;
    std::vector<unsigned char> bytes;
};

// A host: cSimpleModule of OMNeT++ (handleMessage calls arrive), Application of ns-3.
class Node {
public:
    std::function<void(Packet)> send;                  // to the network: a gate, a NetDevice
    std::function<void(const anb_event &)> on_event;   // to the program

    Node(Simulator &simulator, anb_ip ours, uint16_t port, uint8_t seed) : simulator_(simulator) {
        anb_setup setup;
        ANB_INIT(&setup);
        setup.abi = ANB_ABI;
        setup.port = port;
        setup.addresses = &ours;
        setup.n_addresses = 1;
        setup.flags = ANB_PLAIN_IP | ANB_NO_CHECKSUM;  // a simulator has no bit errors
        setup.seed_kind = ANB_SEED_GIVEN;              // the same packets in each run
        setup.seed[0] = seed;
        anb_why why;
        if (anb_ep_new(&setup, &ep_, &why) < 0) throw std::runtime_error(why.text);
    }
    Node(const Node &) = delete;
    Node &operator=(const Node &) = delete;
    ~Node() { anb_ep_free(ep_); }

    // A packet arrived: handleMessage(cMessage *), HandleRead(Ptr<Socket>).
    void arrive(const Packet &packet) {
        anb_ep_handle(ep_, simulator_.now(), &packet.route, packet.bytes.data(), packet.bytes.size());
        settle();
    }

    // Does something with the endpoint, and then what follows from it.
    template <typename Call>
    auto call(Call what) -> decltype(what(static_cast<anb_ep *>(nullptr), int64_t{})) {
        auto result = what(ep_, simulator_.now());
        settle();
        return result;
    }

private:
    // The rule of the header: packets and events until nothing is left, then the timer.
    void settle() {
        for (bool more = true; more;) {
            more = false;
            Packet packet;
            ANB_INIT(&packet.route);
            packet.bytes.resize(65535);
            ssize_t length;
            while ((length = anb_ep_transmit(ep_, simulator_.now(), packet.bytes.data(), packet.bytes.size(),
                                             &packet.route)) > 0) {
                send({packet.route, {packet.bytes.begin(), packet.bytes.begin() + length}});
            }
            anb_event event;
            ANB_INIT(&event);
            while (anb_ep_event(ep_, &event) > 0) {
                more = true;  // the program may answer
                on_event(event);
            }
        }
        if (armed_) simulator_.cancel(timer_);
        int64_t at = anb_ep_timeout(ep_);
        armed_ = at != ANB_NEVER;
        if (armed_) {
            timer_ = simulator_.schedule(at, [this] {
                armed_ = false;
                anb_ep_on_timeout(ep_, simulator_.now());
                settle();
            });
        }
    }

    Simulator &simulator_;
    anb_ep *ep_ = nullptr;
    Simulator::Handle timer_;
    bool armed_ = false;
};

static anb_ip address(uint8_t last) { return anb_ip{4, {0, 0, 0}, 0, {10, 0, 0, last}}; }

int main() {
    Simulator simulator;
    Node client(simulator, address(1), 5001, 1), server(simulator, address(2), 5002, 2);

    // The network: 10 ms one way, 8 Mbit/s, and one packet of a hundred is lost.
    int64_t free_at[2] = {0, 0};
    uint32_t noise = 1;
    auto link = [&](Node &to, int way) {
        return [&simulator, &free_at, &noise, &to, way](Packet packet) {
            noise = noise * 1664525u + 1013904223u;
            if (noise >> 16 < 65536 / 100) return;
            int64_t begin = std::max(simulator.now(), free_at[way]);
            free_at[way] = begin + static_cast<int64_t>(packet.bytes.size() + 20) * 1000;  // 1 us a byte
            simulator.schedule(free_at[way] + 10000000, [&to, packet] { to.arrive(packet); });
        };
    };
    client.send = link(server, 0);
    server.send = link(client, 1);

    uint32_t assoc = 0;
    std::vector<unsigned char> message(1000, 'x');
    auto fill = [&](anb_ep *ep, int64_t now) {
        anb_msg msg;
        ANB_INIT(&msg);
        int result = 0;
        while ((result = anb_ep_send(ep, now, assoc, &msg, message.data(), message.size())) == 0) {
        }
        return result;
    };
    bool writable = false;
    client.on_event = [&](const anb_event &event) {
        writable = writable || event.kind == ANB_CONNECTED || event.kind == ANB_WRITABLE;
    };
    uint64_t received = 0;
    uint32_t theirs = 0;
    server.on_event = [&](const anb_event &event) { theirs = event.assoc; };

    server.call([](anb_ep *ep, int64_t) { return anb_ep_listen(ep, 1); });
    client.call([&](anb_ep *ep, int64_t now) {
        anb_peer peer;
        anb_ip to = address(2);
        ANB_INIT(&peer);
        peer.port = 5002;
        peer.addresses = &to;
        peer.n_addresses = 1;
        return anb_ep_connect(ep, now, &peer, &assoc, nullptr);
    });

    for (int64_t at = 0; at <= 10000000000; at += 1000000) {  // ten seconds, a look at each millisecond
        simulator.run(at);
        if (writable) {
            writable = false;
            client.call(fill);
        }
        if (theirs != 0) {
            server.call([&](anb_ep *ep, int64_t now) {
                unsigned char data[2000];
                anb_info info;
                ANB_INIT(&info);
                ssize_t length;
                while ((length = anb_ep_recv(ep, now, theirs, data, sizeof data, &info)) > 0) received += length;
                return 0;
            });
        }
    }
    double rate = received * 8 / 10e6;
    std::printf("%.2f of 8 Mbit/s in %.0f s of virtual time, %llu bytes\n", rate, simulator.now() / 1e9,
                static_cast<unsigned long long>(received));
    return rate > 4 ? 0 : 1;
}
