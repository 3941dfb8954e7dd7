package dev.onehop.it.application;

import dev.onehop.it.application.OrderRepository.CustomerTotal;
import java.util.List;
import org.springframework.data.mongodb.repository.Aggregation;
import org.springframework.data.mongodb.repository.MongoRepository;
import org.springframework.data.mongodb.repository.Query;
import org.springframework.data.mongodb.repository.Update;

/** {@link OrderRepository} on the synchronous driver. */
interface BlockingOrderRepository extends MongoRepository<Order, String> {

  List<Order> findByCustomer(String customer);

  List<Order> findByTotalGreaterThanOrderByTotal(int total);

  long countByCustomer(String customer);

  boolean existsByCustomer(String customer);

  long deleteByCustomer(String customer);

  @Query("{ customer: ?0, items: ?1 }")
  List<Order> withItem(String customer, String item);

  @Update("{ $inc: { total: ?1 } }")
  long findAndAddToTotalByCustomer(String customer, int amount);

  @Aggregation({
    "{ $match: { customer: ?0 } }",
    "{ $group: { _id: '$customer', total: { $sum: '$total' } } }"
  })
  CustomerTotal totalOf(String customer);
}
