// Two endpoints transfer 4 MB over two paths, of 5 ms and of 20 ms, and print what each path carried.
//
//     c++ -std=c++11 paths.cc $(pkg-config --cflags --libs anabranch) -o paths && ./paths
#include <anabranch/anabranch.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace anb {

// Returns a result, or throws the sentence for an error.
inline long check(long result, const anb_why *why = nullptr) {
    if (result < 0) throw std::runtime_error(why ? why->text : anb_strerror(static_cast<int>(result)));
    return result;
}

template <typename T>
T sized() {
    T value;
    ANB_INIT(&value);
    return value;
}

inline anb_ip ipv4(uint8_t a, uint8_t b, uint8_t c, uint8_t d) {
    return anb_ip{4, {0, 0, 0}, 0, {a, b, c, d}};
}

// An endpoint that is freed with its owner.
class Endpoint {
    struct Free {
        void operator()(anb_ep *ep) const { anb_ep_free(ep); }
    };
    std::unique_ptr<anb_ep, Free> ep_;

public:
    Endpoint(uint16_t port, const std::vector<anb_ip> &addresses, uint8_t seed) {
        auto setup = sized<anb_setup>();
        setup.abi = ANB_ABI;
        setup.port = port;
        setup.addresses = addresses.data();
        setup.n_addresses = static_cast<uint32_t>(addresses.size());
        setup.seed_kind = ANB_SEED_GIVEN;  // on a network: ANB_SEED_SYSTEM
        setup.seed[0] = seed;
        anb_ep *made = nullptr;
        anb_why why;
        check(anb_ep_new(&setup, &made, &why), &why);
        ep_.reset(made);
    }
    operator anb_ep *() const { return ep_.get(); }
};

}  // namespace anb

struct Packet {
    anb_route route;
    std::vector<unsigned char> bytes;
};

struct World {
    int64_t now = 0;
    std::vector<anb::Endpoint> sides;
    std::multimap<std::pair<int64_t, int>, Packet> flying;  // by time of arrival and side

    void drain(int side) {
        static unsigned char buffer[65535];
        auto route = anb::sized<anb_route>();
        for (;;) {
            auto length = anb::check(anb_ep_transmit(sides[side], now, buffer, sizeof buffer, &route));
            if (length == 0) return;
            int64_t delay = route.dst.bytes[1] == 1 ? 5000000 : 20000000;
            route.udp_port = 9899;  // what the receiver sees as the source
            flying.insert({{now + delay, 1 - side}, {route, {buffer, buffer + length}}});
        }
    }

    void step() {
        int64_t next = flying.empty() ? ANB_NEVER : flying.begin()->first.first;
        for (auto &side : sides) next = std::min<int64_t>(next, anb_ep_timeout(side));
        now = std::max(now, next);
        while (!flying.empty() && flying.begin()->first.first <= now) {
            int side = flying.begin()->first.second;
            Packet packet = std::move(flying.begin()->second);
            flying.erase(flying.begin());
            anb::check(anb_ep_handle(sides[side], now, &packet.route, packet.bytes.data(), packet.bytes.size()));
            drain(side);
        }
        for (int side = 0; side < 2; side++) {
            if (anb_ep_timeout(sides[side]) <= now) anb::check(anb_ep_on_timeout(sides[side], now));
            drain(side);
        }
    }
};

static int run() {
    const std::size_t total = 4000000;
    std::vector<anb_ip> client = {anb::ipv4(10, 1, 0, 1), anb::ipv4(10, 2, 0, 1)};
    std::vector<anb_ip> server = {anb::ipv4(10, 1, 0, 2), anb::ipv4(10, 2, 0, 2)};
    World world;
    world.sides.emplace_back(5001, client, 1);
    world.sides.emplace_back(5002, server, 2);
    anb::check(anb_ep_listen(world.sides[1], 1));

    auto peer = anb::sized<anb_peer>();
    peer.port = 5002;
    peer.addresses = server.data();
    peer.n_addresses = static_cast<uint32_t>(server.size());
    uint32_t assoc = 0, theirs = 0;
    anb_why why;
    anb::check(anb_ep_connect(world.sides[0], world.now, &peer, &assoc, &why), &why);
    world.drain(0);

    std::size_t sent = 0, received = 0;
    std::vector<unsigned char> message(1000, 'x'), buffer(65536);
    auto msg = anb::sized<anb_msg>();
    while (received < total) {
        world.step();
        auto event = anb::sized<anb_event>();
        while (anb_ep_event(world.sides[0], &event) > 0) {
        }
        while (anb_ep_event(world.sides[1], &event) > 0) {
            if (event.kind == ANB_CONNECTED) theirs = event.assoc;
        }
        while (sent < total) {
            int result = anb_ep_send(world.sides[0], world.now, assoc, &msg, message.data(), message.size());
            if (result == -EAGAIN) break;
            anb::check(result);
            sent += message.size();
        }
        world.drain(0);
        auto info = anb::sized<anb_info>();
        for (;;) {
            auto length = theirs == 0 ? -EAGAIN : anb_ep_recv(world.sides[1], world.now, theirs, buffer.data(),
                                                              buffer.size(), &info);
            if (length == -EAGAIN) break;
            received += static_cast<std::size_t>(anb::check(length));
        }
        world.drain(1);
    }

    anb_path paths[16];
    for (auto &path : paths) ANB_INIT(&path);
    int n = static_cast<int>(anb::check(anb_ep_paths(world.sides[0], world.now, assoc, paths, 16)));
    bool both = n == 2;
    for (int i = 0; i < n; i++) {
        std::printf("path %d to 10.%d.0.2: %llu bytes, RTT %.1f ms\n", paths[i].id, paths[i].remote.bytes[1],
                    static_cast<unsigned long long>(paths[i].user_bytes), paths[i].srtt / 1e6);
        both = both && paths[i].user_bytes > 0;
    }
    std::printf("%zu bytes in %.3f s of virtual time\n", received, world.now / 1e9);
    return both ? 0 : 1;
}

int main() {
    try {
        return run();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
