import com.sun.nio.sctp.*;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The three kinds of SCTP channels of Java: messages, streams, notifications, addresses. Ends with an exception if something differs. */
public class Channels {
    static final InetSocketAddress LISTENER = at("127.0.0.1", 5001), MANY = at("127.0.0.1", 5002), CLOSED = at("127.0.0.1", 5999);

    static InetSocketAddress at(String address, int port) {
        return new InetSocketAddress(address, port);
    }

    static void need(boolean holds, Object what) {
        if (!holds)
            throw new AssertionError(what);
    }

    static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes());
    }

    /** Keeps the states of associations that notifications tell. */
    static class Log extends AbstractNotificationHandler<List<String>> {
        @Override
        public HandlerResult handleNotification(AssociationChangeNotification change, List<String> log) {
            log.add(change.event().toString());
            return HandlerResult.CONTINUE;
        }
    }

    static String text(ByteBuffer buffer) {
        return new String(buffer.array(), 0, buffer.position());
    }

    static void oneToOne() throws Exception {
        SctpServerChannel listener = SctpServerChannel.open().bind(LISTENER);
        SctpChannel client = SctpChannel.open();
        client.setOption(SctpStandardSocketOptions.SCTP_INIT_MAXSTREAMS, SctpStandardSocketOptions.InitMaxStreams.create(7, 9));
        client.setOption(SctpStandardSocketOptions.SCTP_NODELAY, true);
        client.connect(LISTENER);
        SctpChannel accepted = listener.accept();
        need(client.association().maxOutboundStreams() == 9, client.association());
        need(client.getRemoteAddresses().equals(Set.of(LISTENER)), client.getRemoteAddresses());

        List<String> log = new ArrayList<>();
        ByteBuffer buffer = ByteBuffer.allocate(100);
        client.send(bytes("hello"), MessageInfo.createOutgoing(null, 3).payloadProtocolID(17).unordered(true));
        MessageInfo info = accepted.receive(buffer, log, new Log());
        need(text(buffer).equals("hello") && info.isComplete() && info.isUnordered(), info);
        need(info.streamNumber() == 3 && info.payloadProtocolID() == 17, info);
        client.shutdown();
        need(accepted.receive(buffer.clear(), log, new Log()).bytes() == -1, "the end");
        need(log.equals(List.of("COMM_UP", "SHUTDOWN")), log);
        try {
            SctpChannel.open().connect(CLOSED);
            need(false, "a closed port");
        } catch (ConnectException refused) {
        }
    }

    static void oneToMany() throws Exception {
        List<String> log = new ArrayList<>();
        ByteBuffer buffer = ByteBuffer.allocate(100);
        SctpMultiChannel many = SctpMultiChannel.open().bind(MANY).bindAddress(InetAddress.getByName("127.0.0.2"));
        SctpMultiChannel other = SctpMultiChannel.open();
        other.send(bytes("to many"), MessageInfo.createOutgoing(MANY, 1));
        MessageInfo info = many.receive(buffer, log, new Log());
        need(text(buffer).equals("to many") && info.streamNumber() == 1 && many.associations().size() == 1, info);
        SctpChannel alone = many.branch(info.association());
        need(alone.getAllLocalAddresses().size() == 2, alone.getAllLocalAddresses());
        alone.send(bytes("back"), MessageInfo.createOutgoing(null, 0));
        other.receive(buffer.clear(), log, new Log());
        need(text(buffer).equals("back") && log.equals(List.of("COMM_UP", "COMM_UP")), log);
    }

    public static void main(String[] arguments) throws Exception {
        oneToOne();
        oneToMany();
        System.out.println("ok");
    }
}
